import { resolve } from 'node:path';
import type { RateLimits } from '@questline/core/internal';
import { CliError } from '../cli-error.ts';
import { RATE_VARIABLES } from './limit-variables.ts';
import { toOpenAIServer, toProviderLimits } from './models.ts';
import { findConflicts, type Given } from './rules.ts';
import { environmentSchema, type Values } from './schema.ts';
import type { SecretName } from './variables.ts';

/** Environment variables, in the shape of `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

export type ProviderName = 'anthropic' | 'openai' | 'gemini' | 'xai' | 'elevenlabs';

/** The whole configuration, from environment variables. @see environmentSchema */
export type Configuration = Readonly<ReturnType<typeof toConfiguration>>;
export type S3Configuration = NonNullable<Configuration['s3']>;
export type MailConfiguration = NonNullable<Configuration['mail']>;

/**
 * Reads and validates all environment variables. Changes nothing.
 * @throws CliError that lists every invalid variable.
 */
export function readConfiguration(environment: Environment, folder: string = process.cwd()): Configuration {
  const names = Object.keys(environmentSchema.shape);
  const given: Given = Object.fromEntries(
    names.map((name) => [name, environment[name]?.trim() || undefined]),
  );
  const result = environmentSchema.safeParse(given);
  const issues = [
    ...(result.error?.issues ?? []).map(({ path: [name], message }) => `${String(name)}: ${message}`),
    ...findConflicts(given),
  ];
  if (!result.success || issues.length > 0) throw new CliError(issues);
  return toConfiguration(result.data, folder);
}

function toConfiguration(values: Values, folder: string) {
  return {
    selfHost: values.QUESTLINE_SELF_HOST,
    /** Live updates over a websocket. */
    realtime: values.QUESTLINE_REALTIME,
    enrichment: values.QUESTLINE_ENRICHMENT,
    /** Undefined: everything is kept. */
    retention: values.QUESTLINE_RETENTION,
    /** Undefined: any number is kept. */
    keepNewest: values.QUESTLINE_KEEP_NEWEST,
    /** Undefined: charges are kept. */
    chargeArchiveDays: values.QUESTLINE_CHARGE_ARCHIVE_DAYS,
    /** Undefined: audit entries are kept. */
    auditRetentionDays: values.QUESTLINE_AUDIT_RETENTION_DAYS,
    webhooksPrivate: values.QUESTLINE_WEBHOOKS_PRIVATE,
    /** The given secrets; missing ones are created and stored in the storage folder. */
    secrets: definedOf<SecretName, string>({
      JWT_SECRET: values.JWT_SECRET,
      SESSION_SECRET: values.SESSION_SECRET,
      SECRET_ENCRYPTION_KEY: values.SECRET_ENCRYPTION_KEY,
    }),
    /** The given keys, in the order in which their models are preferred. */
    providerKeys: toProviderKeys(values),
    /** Undefined: OpenAI itself. */
    openAIServer: toOpenAIServer(values),
    providerLimits: toProviderLimits(values),
    /** By model id. */
    fallbacks: values.MODEL_FALLBACKS,
    /** Undefined: no web search. */
    braveApiKey: values.BRAVE_API_KEY,
    /** Undefined: no mail. */
    mail: toMail(values),
    appName: values.APP_NAME,
    /** 0: the system chooses. */
    port: values.PORT,
    /** Undefined: wherever the server ends up listening. */
    publicUrl: values.PUBLIC_URL,
    /** Undefined: no page of another origin may call the API. */
    corsOrigins: values.CORS_ORIGINS,
    /** Milliseconds. */
    requestTimeoutMs: values.REQUEST_TIMEOUT_MS,
    databaseUrl: values.DATABASE_URL,
    /** Further databases, by name. Undefined: none. */
    shards: values.DATABASE_SHARDS,
    /** Replicas by the name of their database. Undefined: none. */
    replicas: values.DATABASE_REPLICAS,
    postgres: {
      connections: values.DATABASE_POOL,
      prepare: values.DATABASE_PREPARE,
      listen: values.DATABASE_LISTEN,
    },
    /** Absolute path. */
    storageDir: resolve(folder, values.STORAGE_DIR),
    redisUrl: values.REDIS_URL,
    trustProxy: values.TRUST_PROXY,
    /** Seconds. */
    tokenLifetimes: { access: values.ACCESS_TOKEN_SECONDS, refresh: values.REFRESH_TOKEN_SECONDS },
    /** Rate limits of signed-in users. */
    rateLimits: toRateLimits(values),
    /** Paid requests per user per day, while credits are off. 0: no limit. */
    paidCallsPerDay: values.PAID_CALLS_PER_DAY,
    admission: { maxWaiting: values.MAX_WAITING, maxWaitingPerOwner: values.MAX_WAITING_PER_OWNER },
    /** Undefined: no metrics. */
    metricsToken: values.METRICS_TOKEN,
    /** Undefined: files are stored in the storage folder. */
    s3: toS3(values),
  };
}

function toProviderKeys(values: Values): ReadonlyMap<ProviderName, string> {
  const keys: Readonly<Record<ProviderName, string | undefined>> = {
    anthropic: values.ANTHROPIC_API_KEY,
    openai: values.OPENAI_API_KEY,
    gemini: values.GEMINI_API_KEY,
    xai: values.XAI_API_KEY,
    elevenlabs: values.ELEVENLABS_API_KEY,
  };
  return new Map(Object.entries(definedOf<ProviderName, string>(keys)) as [ProviderName, string][]);
}

function toMail(values: Values) {
  const { MAIL_HOST: host } = values;
  if (host === undefined) return undefined;
  return {
    host,
    port: values.MAIL_PORT,
    username: values.MAIL_USERNAME,
    password: values.MAIL_PASSWORD,
    /** Undefined: `no-reply` at the host of the public URL. */
    from: values.MAIL_FROM,
  };
}

function toRateLimits(values: Values): RateLimits {
  return Object.fromEntries(
    Object.entries(RATE_VARIABLES).map(([rateClass, name]) => [rateClass, values[name]]),
  ) as unknown as RateLimits;
}

/** All S3 variables, or none of them. */
function toS3(values: Values) {
  const { S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY, S3_PUBLIC_ENDPOINT } = values;
  if (
    S3_ENDPOINT === undefined ||
    S3_BUCKET === undefined ||
    S3_ACCESS_KEY_ID === undefined ||
    S3_SECRET_ACCESS_KEY === undefined
  ) {
    return undefined;
  }
  return {
    endpoint: S3_ENDPOINT,
    bucket: S3_BUCKET,
    region: values.S3_REGION,
    accessKeyId: S3_ACCESS_KEY_ID,
    secretAccessKey: S3_SECRET_ACCESS_KEY,
    /** The address at which browsers reach the object store. Undefined: bytes pass through this server. */
    ...(S3_PUBLIC_ENDPOINT !== undefined && { publicEndpoint: S3_PUBLIC_ENDPOINT }),
  };
}

function definedOf<Name extends string, Value>(
  record: Readonly<Record<Name, Value | undefined>>,
): Readonly<Partial<Record<Name, Value>>> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Partial<
    Record<Name, Value>
  >;
}

/** The addresses of all databases, which contain passwords. */
export function getDatabaseUrls({
  databaseUrl,
  shards = {},
  replicas = {},
}: Pick<Configuration, 'databaseUrl' | 'shards' | 'replicas'>): readonly string[] {
  return [
    ...(databaseUrl === undefined ? [] : [databaseUrl]),
    ...Object.values(shards),
    ...Object.values(replicas).flat(),
  ];
}
