import { resolve } from 'node:path';
import { Mistake } from '../mistake.ts';
import { type MailAddress, readAddress } from './address.ts';
import { createReader, type Environment, type Reader } from './reader.ts';
import { SECRETS, type SecretName } from './variables.ts';

export type ProviderName = 'anthropic' | 'openai' | 'gemini' | 'xai' | 'elevenlabs';

/** Everything the environment says. @see VARIABLES */
export interface Configuration {
  readonly selfHost: boolean;
  /** Live updates over a websocket. */
  readonly realtime: boolean;
  /** Those that were given; the others are made and kept in the storage folder. */
  readonly secrets: Readonly<Partial<Record<SecretName, string>>>;
  /** Those that were given, in the order in which their models are preferred. */
  readonly providerKeys: ReadonlyMap<ProviderName, string>;
  readonly openAIBaseUrl: string | undefined;
  /** Undefined: no mail. */
  readonly mail: MailConfiguration | undefined;
  readonly appName: string;
  /** 0: the system chooses. */
  readonly port: number;
  /** Undefined: wherever the server ends up listening. */
  readonly publicUrl: string | undefined;
  readonly databaseUrl: string | undefined;
  /** Absolute. */
  readonly storageDir: string;
  readonly redisUrl: string | undefined;
  readonly trustProxy: boolean;
  /** Undefined: there are no metrics. */
  readonly metricsToken: string | undefined;
  /** Undefined: files are kept in the storage folder. */
  readonly s3: S3Configuration | undefined;
}

export interface S3Configuration {
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Where browsers reach the service. Undefined: they do not, and bytes go through this server. */
  readonly publicEndpoint?: string;
}

export interface MailConfiguration {
  readonly host: string;
  readonly port: number;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** Undefined: `no-reply` at the public address. */
  readonly from: MailAddress | undefined;
}

const PROVIDERS: readonly ProviderName[] = ['anthropic', 'openai', 'gemini', 'xai', 'elevenlabs'];
const PORTS = { min: 0, max: 65_535 };

/**
 * Reads the environment, all of it at once. It changes nothing.
 * @throws Mistake that lists every wrong variable.
 */
export function readConfiguration(environment: Environment, folder: string = process.cwd()): Configuration {
  const read = createReader(environment);
  const secrets: Partial<Record<SecretName, string>> = {};
  for (const name of SECRETS) {
    const value = read.hex(name);
    if (value !== undefined) secrets[name] = value;
  }
  read.faults.push(...equalSecrets(secrets));
  const providerKeys = new Map<ProviderName, string>();
  for (const provider of PROVIDERS) {
    const name = `${provider.toUpperCase()}_API_KEY`;
    const key = read.text(name);
    if (key === undefined) continue;
    providerKeys.set(provider, key);
    // It travels in a header.
    if (!/^[\x21-\x7e]+$/.test(key)) read.faults.push(`${name}: expected printable ASCII without spaces`);
  }
  const host = read.text('MAIL_HOST');
  const sender = read.text('MAIL_FROM');
  const from = sender === undefined ? undefined : readAddress(sender);
  if (sender !== undefined && from === undefined) {
    read.faults.push(`MAIL_FROM: expected sender@example.com or Name <sender@example.com>, got "${sender}"`);
  }
  const appName = read.text('APP_NAME') ?? 'Questline';
  if (!/^[^\p{Cc}]{1,100}$/u.test(appName)) {
    read.faults.push('APP_NAME: expected 1 to 100 characters in one line');
  }
  const mail: MailConfiguration = {
    host: host ?? '',
    port: read.whole('MAIL_PORT', { min: 1, max: PORTS.max }, 1025),
    username: read.text('MAIL_USERNAME'),
    password: read.text('MAIL_PASSWORD'),
    from,
  };
  if ((mail.username === undefined) !== (mail.password === undefined)) {
    const missing = mail.username === undefined ? 'MAIL_USERNAME' : 'MAIL_PASSWORD';
    read.faults.push(`${missing}: missing; MAIL_USERNAME and MAIL_PASSWORD go together`);
  }
  const configuration: Configuration = {
    selfHost: read.flag('QUESTLINE_SELF_HOST', true),
    realtime: read.flag('QUESTLINE_REALTIME', false),
    secrets,
    providerKeys,
    openAIBaseUrl: read.url('OPENAI_BASE_URL', { protocols: ['http:', 'https:'], secret: false }),
    mail: host === undefined ? undefined : mail,
    appName,
    port: read.whole('PORT', PORTS, 3000),
    publicUrl: read.url('PUBLIC_URL', { protocols: ['http:', 'https:'], secret: false }),
    databaseUrl: read.url('DATABASE_URL', { protocols: ['postgres:', 'postgresql:'], secret: true }),
    storageDir: resolve(folder, read.text('STORAGE_DIR') ?? './data'),
    redisUrl: read.url('REDIS_URL', { protocols: ['redis:', 'rediss:'], secret: true }),
    trustProxy: read.flag('TRUST_PROXY', false),
    metricsToken: read.text('METRICS_TOKEN'),
    s3: s3Of(read),
  };
  if (configuration.metricsToken !== undefined && !/^[\x21-\x7e]{16,}$/.test(configuration.metricsToken)) {
    read.faults.push('METRICS_TOKEN: expected 16 or more printable ASCII characters without spaces');
  }
  if (read.faults.length > 0) throw new Mistake(read.faults);
  return configuration;
}

/** All of it, or nothing: half a bucket is a mistake. */
function s3Of(read: Reader): S3Configuration | undefined {
  const web = { protocols: ['http:', 'https:'], secret: false };
  const endpoint = read.url('S3_ENDPOINT', web);
  const publicEndpoint = read.url('S3_PUBLIC_ENDPOINT', web);
  const given = {
    S3_ENDPOINT: endpoint ?? read.text('S3_ENDPOINT'),
    S3_BUCKET: read.text('S3_BUCKET'),
    S3_ACCESS_KEY_ID: read.text('S3_ACCESS_KEY_ID'),
    S3_SECRET_ACCESS_KEY: read.text('S3_SECRET_ACCESS_KEY'),
  };
  const names = Object.keys(given) as (keyof typeof given)[];
  const missing = names.filter((name) => given[name] === undefined);
  if (missing.length === names.length) return undefined;
  read.faults.push(...missing.map((name) => `${name}: missing; ${names.join(', ')} go together`));
  return {
    endpoint: endpoint ?? '',
    bucket: given.S3_BUCKET ?? '',
    region: read.text('S3_REGION') ?? 'us-east-1',
    accessKeyId: given.S3_ACCESS_KEY_ID ?? '',
    secretAccessKey: given.S3_SECRET_ACCESS_KEY ?? '',
    ...(publicEndpoint !== undefined && { publicEndpoint }),
  };
}

/** One secret for two purposes: whoever learns it through one has the other. */
export function equalSecrets(secrets: Readonly<Partial<Record<SecretName, string>>>): string[] {
  return SECRETS.flatMap((name, index) => {
    const twin = SECRETS.slice(0, index).find((other) => secrets[other] === secrets[name]);
    return secrets[name] === undefined || twin === undefined
      ? []
      : [`${name}: is the same as ${twin}; every secret must be a different one`];
  });
}
