import {
  DEFAULT_LINE_SETTINGS,
  DEFAULT_PAID_CALLS_PER_DAY,
  DEFAULT_RATE_LIMITS,
  DEFAULT_TOKEN_LIFETIMES,
  type RateLimits,
  RETENTION_KINDS,
} from '@questline/core/internal';
import * as z from 'zod';
import { readAddress } from './address.ts';
import { choice, flag, hex, matching, optionalWhole, parsed, rate, text, url, whole } from './fields.ts';
import {
  readFallbacks,
  readNames,
  readNewest,
  readOrigins,
  readPrices,
  readReplicas,
  readRetention,
  readShards,
} from './forms.ts';

/*
 * Every environment variable of the server: its type, its messages, and its line in the help and the documentation. A
 * blank value counts as not set.
 */

const WEB = ['http:', 'https:'];
const MAX_MS = 2 ** 31 - 1;
const PORTS = { min: 0, max: 65_535 };
const LINE_LENGTH = { min: 0, max: 9000 };
const TOKEN_SECONDS = { min: 60, max: 10 * 365 * 86_400 };
/** A key is sent in a header. */
const PRINTABLE = /^[\x21-\x7e]+$/;

const AT_FIRST_START = 'created at the first start';

const key = (meaning: string) => matching(PRINTABLE, 'printable ASCII without spaces', { meaning });
const timeout = (fallback: string, meaning: string) =>
  optionalWhole({ min: 0, max: MAX_MS }, { fallback, meaning });

const workspace = {
  QUESTLINE_SELF_HOST: flag(true, {
    meaning: 'credits off, models of managed runtimes hidden; false: credits are enforced',
  }),
  QUESTLINE_REALTIME: flag(false, { meaning: 'live updates over a WebSocket at /api/realtime' }),
  QUESTLINE_WEBHOOKS_PRIVATE: flag(false, {
    meaning: 'webhooks may call private addresses, such as other services of the host; then every user can',
  }),
  QUESTLINE_RETENTION: parsed(readRetention, 'KIND=DAYS, several of them separated by commas', {
    fallback: 'everything is kept; responses for 30 days, deliveries for 7',
    meaning: `days after which records are deleted: KIND=DAYS, separated by commas; kinds: ${RETENTION_KINDS.join(', ')}`,
  }),
  QUESTLINE_KEEP_NEWEST: parsed(readNewest, 'KIND=NUMBER, several of them separated by commas', {
    fallback: 'any number is kept',
    meaning: `number of newest records to keep, of each session or owner: KIND=NUMBER, separated by commas; kinds: ${RETENTION_KINDS.join(', ')}`,
  }),
  QUESTLINE_CHARGE_ARCHIVE_DAYS: optionalWhole(
    { min: 90, max: 36_500 },
    {
      fallback: 'charges are kept',
      meaning:
        'days after which charges move to charge-archive in the bucket, or else in STORAGE_DIR; their sums stay',
    },
  ),
  QUESTLINE_AUDIT_RETENTION_DAYS: optionalWhole(
    { min: 1, max: 36_500 },
    { fallback: 'kept forever', meaning: 'days for which the audit log keeps entries' },
  ),
  QUESTLINE_ENRICHMENT: flag(false, {
    meaning: 'a model names, summarizes and tags sessions; paid like the turn',
  }),
};

const secrets = {
  JWT_SECRET: hex({ meaning: 'signs access tokens', fallback: AT_FIRST_START }),
  SESSION_SECRET: hex({ meaning: 'signs one-time codes and links', fallback: AT_FIRST_START }),
  SECRET_ENCRYPTION_KEY: hex({
    meaning:
      'encrypts stored provider keys, invite codes and the system prompts of queued requests; must never change after the first start',
    fallback: AT_FIRST_START,
  }),
};

const models = {
  ANTHROPIC_API_KEY: key('enables the models of Anthropic'),
  OPENAI_API_KEY: key('enables the models of OpenAI'),
  OPENAI_BASE_URL: url(WEB, { meaning: 'a server that replaces OpenAI: a gateway or a compatible server' }),
  OPENAI_PROTOCOL: choice(['responses', 'chat'], {
    fallback: 'chat',
    meaning: 'protocol of that server: responses (the Responses API) or chat (chat completions)',
  }),
  OPENAI_MODELS: parsed(readNames, 'list, or distinct names separated by commas', {
    fallback: 'the models of OpenAI',
    meaning: 'models of that server: names separated by commas, or list for its own model list; needs no key',
  }),
  OPENAI_CONTEXT_WINDOW: optionalWhole(
    { min: 0, max: 100_000_000 },
    {
      fallback: '8192',
      meaning: 'context window of those models in tokens, if the server does not report it',
    },
  ),
  OPENAI_TOOLS: flag(true, { meaning: 'whether those models can call tools' }),
  OPENAI_PRICES: parsed(readPrices, 'INPUT/OUTPUT in USD per million tokens, e.g. 0/0', {
    meaning:
      'prices of those models, as INPUT/OUTPUT in USD per million tokens; required while credits are enforced',
  }),
  OPENAI_MAX_TOKENS_PARAMETER: choice(['max_tokens', 'max_completion_tokens'], {
    fallback: 'by protocol and model',
    meaning: 'request field that limits the output tokens: max_tokens or max_completion_tokens',
  }),
  GEMINI_API_KEY: key('enables the models of Google Gemini'),
  XAI_API_KEY: key('enables the models of xAI'),
  ELEVENLABS_API_KEY: key('enables speech, sound effects and music of ElevenLabs'),
  MODEL_FALLBACKS: parsed(readFallbacks, 'MODEL=FALLBACK,FALLBACK; several models separated by semicolons', {
    fallback: 'none',
    meaning:
      'models that answer when another fails before its first word: MODEL=FALLBACK,FALLBACK, separated by semicolons',
  }),
  BRAVE_API_KEY: key('enables web search by Brave'),
  PROVIDER_CONNECTIONS: optionalWhole(
    { min: 1, max: MAX_MS },
    {
      fallback: 'no limit',
      meaning: 'maximum connections to each provider',
    },
  ),
  PROVIDER_CONNECT_TIMEOUT_MS: timeout(
    '10000',
    'timeout for opening a connection to a provider; 0: no limit',
  ),
  PROVIDER_FIRST_BYTE_TIMEOUT_MS: timeout(
    '900000 at OpenAI and xAI, 1200000 at Gemini, otherwise 120000',
    'timeout for the first byte of a provider response; 0: no limit',
  ),
  PROVIDER_IDLE_TIMEOUT_MS: timeout(
    '900000 at OpenAI and xAI, 1200000 at Gemini, otherwise 300000',
    'timeout between two parts of a provider response; 0: no limit',
  ),
  PROVIDER_KEEP_ALIVE_MS: timeout('30000', 'how long an idle connection to a provider stays open'),
};

const mail = {
  MAIL_HOST: text({
    meaning: 'SMTP server that sends sign-in codes',
    fallback: 'codes are printed in the terminal',
  }),
  MAIL_PORT: whole(
    { min: 1, max: PORTS.max, fallback: 1025 },
    { meaning: 'SMTP port; 465 uses TLS from the start, 587 requires STARTTLS' },
  ),
  MAIL_USERNAME: text({ meaning: 'user at the SMTP server' }),
  MAIL_PASSWORD: text({ meaning: 'password of that user' }),
  MAIL_FROM: parsed(readAddress, 'sender@example.com or Name <sender@example.com>', {
    meaning: 'sender of mails',
    fallback: 'no-reply at the host of PUBLIC_URL',
  }),
  APP_NAME: z
    .string()
    .regex(/^[^\p{Cc}]{1,100}$/u, 'expected 1 to 100 characters in one line')
    .default('Questline')
    .meta({ meaning: 'name of the service in mails' }),
};

const network = {
  PORT: whole({ ...PORTS, fallback: 3000 }, { meaning: 'port to listen on; 0: the system chooses one' }),
  PUBLIC_URL: url(WEB, {
    fallback: 'http://localhost:PORT',
    meaning: 'address at which clients reach the service',
  }),
  CORS_ORIGINS: parsed(readOrigins, '*, or origins separated by commas, e.g. https://app.example.com', {
    fallback: 'none',
    meaning: 'origins whose pages may call the API from a browser, separated by commas; *: every origin',
  }),
  REQUEST_TIMEOUT_MS: whole(
    { min: 1000, max: 3_600_000, fallback: 60_000 },
    { meaning: 'how long a chat with wait: true waits for its reply before it answers 504' },
  ),
};

const storage = {
  DATABASE_URL: url(['postgres:', 'postgresql:'], {
    secret: true,
    meaning: 'PostgreSQL database; replaces the SQLite file in STORAGE_DIR',
  }),
  DATABASE_SHARDS: parsed(readShards, 'NAME=URL, several of them separated by spaces; no name is home', {
    secret: true,
    fallback: 'one database',
    meaning:
      'further PostgreSQL databases, to which questline move-owner moves users and organizations: NAME=URL, separated by spaces',
  }),
  DATABASE_REPLICAS: parsed(readReplicas, 'URL or NAME=URL, several of them separated by spaces', {
    secret: true,
    fallback: 'none',
    meaning:
      'streaming replicas that read lists and reports: URL for one of DATABASE_URL, NAME=URL for one of that shard, separated by spaces',
  }),
  DATABASE_POOL: whole(
    { min: 2, max: 1000, fallback: 10 },
    {
      meaning:
        'maximum PostgreSQL connections of this process to each database; one of them waits for notifications',
    },
  ),
  DATABASE_PREPARE: flag(true, {
    meaning:
      'keeps frequent statements prepared; false: for PgBouncer in transaction mode before version 1.21',
  }),
  DATABASE_LISTEN: flag(true, {
    meaning:
      'hears of new work by LISTEN; false: for PgBouncer in transaction mode; work then starts up to a second later',
  }),
  STORAGE_DIR: z.string().default('./data').meta({ meaning: 'folder for secrets, data and files' }),
  S3_ENDPOINT: url(WEB, { meaning: 'S3-compatible service for files; replaces STORAGE_DIR' }),
  S3_BUCKET: text({ meaning: 'bucket for files; it must exist' }),
  S3_REGION: z.string().default('us-east-1').meta({ meaning: 'region of the bucket' }),
  S3_ACCESS_KEY_ID: text({ meaning: 'access key with read and write permission' }),
  S3_SECRET_ACCESS_KEY: text({ meaning: 'secret of the access key' }),
  S3_PUBLIC_ENDPOINT: url(WEB, {
    fallback: 'bytes pass through this server',
    meaning: 'address at which browsers reach the S3 service; set it to let browsers transfer files directly',
  }),
  REDIS_URL: url(['redis:', 'rediss:'], {
    secret: true,
    meaning: 'Redis server; required for several processes',
  }),
  METRICS_TOKEN: matching(/^[\x21-\x7e]{16,}$/, '16 or more printable ASCII characters without spaces', {
    meaning: 'enables /metrics for requests with this bearer token; at least 16 characters',
    fallback: 'no metrics',
  }),
};

/** The default limits of signed-in users. An agent run needs an answer at every step. */
const RATE_LIMITS: RateLimits = { ...DEFAULT_RATE_LIMITS, completions: { limit: 1000, per: 'hour' } };

const ceiling = (rateClass: keyof RateLimits, meaning: string) => rate(RATE_LIMITS[rateClass], { meaning });

const limits = {
  RATE_LIMIT_READS: ceiling('reads', 'read operations, per signed-in user'),
  RATE_LIMIT_WORK: ceiling('work', 'all other operations of the public API'),
  RATE_LIMIT_AI_TOOLS: ceiling('ai-tools', 'tools'),
  RATE_LIMIT_COMPLETIONS: ceiling('completions', 'streaming completions'),
  RATE_LIMIT_AGENTS_LIST: ceiling('agents-list', 'listing agents'),
  RATE_LIMIT_AGENTS_CREATE: ceiling('agents-create', 'creating agents'),
  RATE_LIMIT_AGENTS_UPDATE: ceiling('agents-update', 'updating agents'),
  RATE_LIMIT_AGENTS_DELETE: ceiling('agents-delete', 'deleting agents'),
  RATE_LIMIT_SESSION_AGENTS: ceiling('session-agents', 'agents of a session'),
  RATE_LIMIT_APPLICATION_AI: ceiling(
    'application-ai',
    'inference, images and descriptions in the application API',
  ),
  RATE_LIMIT_APPLICATION_UPLOAD: ceiling('application-upload', 'transcriptions in the application API'),
  RATE_LIMIT_APPLICATION: ceiling('application', 'all other operations of the application API'),
  PAID_CALLS_PER_DAY: whole(
    { min: 0, max: 1_000_000_000, fallback: DEFAULT_PAID_CALLS_PER_DAY },
    { meaning: 'paid requests per user in 24 hours while credits are off; 0: no limit' },
  ),
  MAX_WAITING: whole(
    { ...LINE_LENGTH, fallback: DEFAULT_LINE_SETTINGS.maxWaiting },
    {
      meaning:
        'accepted jobs that may wait for a worker; more are refused with 503 and Retry-After; 0: no limit',
    },
  ),
  MAX_WAITING_PER_OWNER: whole(
    { ...LINE_LENGTH, fallback: DEFAULT_LINE_SETTINGS.maxWaitingPerOwner },
    { meaning: 'the same, of the turns, images, agent runs and responses of one user' },
  ),
  ACCESS_TOKEN_SECONDS: whole(
    { ...TOKEN_SECONDS, fallback: DEFAULT_TOKEN_LIFETIMES.access },
    { meaning: 'lifetime of access tokens' },
  ),
  REFRESH_TOKEN_SECONDS: whole(
    { ...TOKEN_SECONDS, fallback: DEFAULT_TOKEN_LIFETIMES.refresh },
    { meaning: 'lifetime of refresh tokens; each can be used once' },
  ),
  TRUST_PROXY: flag(false, { meaning: 'trust the X-Forwarded-For header of a proxy in front' }),
};

/** By rate class. A class without a variable fails to compile. */
export const RATE_VARIABLES = {
  reads: 'RATE_LIMIT_READS',
  work: 'RATE_LIMIT_WORK',
  'ai-tools': 'RATE_LIMIT_AI_TOOLS',
  completions: 'RATE_LIMIT_COMPLETIONS',
  'agents-list': 'RATE_LIMIT_AGENTS_LIST',
  'agents-create': 'RATE_LIMIT_AGENTS_CREATE',
  'agents-update': 'RATE_LIMIT_AGENTS_UPDATE',
  'agents-delete': 'RATE_LIMIT_AGENTS_DELETE',
  'session-agents': 'RATE_LIMIT_SESSION_AGENTS',
  'application-ai': 'RATE_LIMIT_APPLICATION_AI',
  'application-upload': 'RATE_LIMIT_APPLICATION_UPLOAD',
  application: 'RATE_LIMIT_APPLICATION',
} as const satisfies Record<keyof RateLimits, keyof typeof limits>;

export const environmentSchema = z.object({
  ...workspace,
  ...secrets,
  ...models,
  ...mail,
  ...network,
  ...storage,
  ...limits,
});

/** The value of every variable. */
export type Values = z.output<typeof environmentSchema>;
