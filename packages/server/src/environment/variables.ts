/** One environment variable, as the help text and the documentation show it. */
export interface Variable {
  readonly name: string;
  readonly meaning: string;
  /** What counts when it is not set. Absent: nothing does. */
  readonly fallback?: string;
}

/** The three secrets, each 64 hexadecimal characters (32 bytes). */
export const SECRETS = ['JWT_SECRET', 'SESSION_SECRET', 'SECRET_ENCRYPTION_KEY'] as const;

export type SecretName = (typeof SECRETS)[number];

/** Every variable there is. A blank value counts as not set. */
export const VARIABLES: readonly Variable[] = [
  {
    name: 'QUESTLINE_SELF_HOST',
    fallback: 'true',
    meaning: 'credits off, models of managed runtimes hidden; false: credits are enforced',
  },
  {
    name: 'QUESTLINE_REALTIME',
    fallback: 'false',
    meaning: 'live updates over a websocket at /api/realtime',
  },
  { name: 'JWT_SECRET', meaning: 'signs access tokens', fallback: 'made at the first start' },
  { name: 'SESSION_SECRET', meaning: 'signs one-time codes and links', fallback: 'made at the first start' },
  {
    name: 'SECRET_ENCRYPTION_KEY',
    meaning:
      'encrypts stored provider keys and the codes of invites; must never change after the first start',
    fallback: 'made at the first start',
  },
  { name: 'ANTHROPIC_API_KEY', meaning: 'turns on the models of Anthropic' },
  { name: 'OPENAI_API_KEY', meaning: 'turns on the models of OpenAI' },
  { name: 'OPENAI_BASE_URL', meaning: 'a server that speaks the same protocol, in place of OpenAI' },
  { name: 'GEMINI_API_KEY', meaning: 'turns on the models of Google Gemini' },
  { name: 'XAI_API_KEY', meaning: 'turns on the models of xAI' },
  { name: 'ELEVENLABS_API_KEY', meaning: 'turns on the speech, sound effects and music of ElevenLabs' },
  {
    name: 'MAIL_HOST',
    meaning: 'the SMTP server for sign-in codes',
    fallback: 'they are shown in the terminal',
  },
  { name: 'MAIL_PORT', fallback: '1025', meaning: '465 is TLS from the start, 587 requires STARTTLS' },
  { name: 'MAIL_USERNAME', meaning: 'who signs in at the SMTP server' },
  { name: 'MAIL_PASSWORD', meaning: 'with what' },
  { name: 'MAIL_FROM', meaning: 'the sender of mails', fallback: 'no-reply at the host of PUBLIC_URL' },
  { name: 'APP_NAME', fallback: 'Questline', meaning: 'what mails call the service' },
  { name: 'PORT', fallback: '3000', meaning: 'where to listen; 0 lets the system choose' },
  {
    name: 'PUBLIC_URL',
    fallback: 'http://localhost:PORT',
    meaning: 'where the service is reached from outside',
  },
  { name: 'DATABASE_URL', meaning: 'a PostgreSQL database in place of a file in STORAGE_DIR' },
  { name: 'STORAGE_DIR', fallback: './data', meaning: 'the folder for secrets, data and files' },
  { name: 'S3_ENDPOINT', meaning: 'an S3-compatible service for files, in place of STORAGE_DIR' },
  { name: 'S3_BUCKET', meaning: 'the bucket there, which must exist' },
  { name: 'S3_REGION', fallback: 'us-east-1', meaning: 'its region' },
  { name: 'S3_ACCESS_KEY_ID', meaning: 'who reads and writes in it' },
  { name: 'S3_SECRET_ACCESS_KEY', meaning: 'with what' },
  {
    name: 'S3_PUBLIC_ENDPOINT',
    fallback: 'bytes go through this server',
    meaning: 'where browsers reach the service, when they may exchange files with it directly',
  },
  { name: 'REDIS_URL', meaning: 'a Redis server shared between several processes' },
  {
    name: 'METRICS_TOKEN',
    meaning: 'turns on /metrics for whoever sends it as a bearer token; 16 characters or more',
    fallback: 'no metrics',
  },
  { name: 'TRUST_PROXY', fallback: 'false', meaning: 'believe the X-Forwarded-For of a proxy in front' },
];
