import { describe, expect, it, onTestFinished } from 'vitest';
import { readConfiguration } from '../src/environment/configuration.ts';
import { VARIABLES } from '../src/environment/variables.ts';
import { createLog } from '../src/log.ts';
import { findSecrets } from '../src/secrets.ts';
import { startServer } from '../src/server.ts';
import { openWorkspace } from '../src/workspace.ts';
import { emptyFolder } from './command.ts';

const A = 'a'.repeat(64);

/** A value of every variable that differs from its default, with the other variables that it requires. */
const SAMPLES: Readonly<Record<string, string>> = {
  QUESTLINE_SELF_HOST: 'false',
  QUESTLINE_REALTIME: '1',
  QUESTLINE_ENRICHMENT: 'TRUE',
  QUESTLINE_RETENTION: 'sessions=365, files = 90',
  QUESTLINE_KEEP_NEWEST: 'messages=1000,quests = 200',
  QUESTLINE_AUDIT_RETENTION_DAYS: '365',
  QUESTLINE_CHARGE_ARCHIVE_DAYS: '365',
  QUESTLINE_WEBHOOKS_PRIVATE: 'true',
  JWT_SECRET: A.toUpperCase(),
  SESSION_SECRET: 'b'.repeat(64),
  SECRET_ENCRYPTION_KEY: 'c'.repeat(64),
  ANTHROPIC_API_KEY: 'key-1',
  OPENAI_API_KEY: 'key-2',
  OPENAI_BASE_URL: 'http://gateway/',
  OPENAI_PROTOCOL: 'responses',
  OPENAI_MODELS: 'one, two',
  OPENAI_CONTEXT_WINDOW: '1000',
  OPENAI_TOOLS: '0',
  OPENAI_PRICES: '0.5/2',
  OPENAI_MAX_TOKENS_PARAMETER: 'max_tokens',
  GEMINI_API_KEY: 'key-3',
  XAI_API_KEY: 'key-4',
  ELEVENLABS_API_KEY: 'key-5',
  MODEL_FALLBACKS: 'one=two, three; four:8b=five',
  BRAVE_API_KEY: 'key-6',
  PROVIDER_CONNECTIONS: '3',
  PROVIDER_CONNECT_TIMEOUT_MS: '4',
  PROVIDER_FIRST_BYTE_TIMEOUT_MS: '0',
  PROVIDER_IDLE_TIMEOUT_MS: '5',
  PROVIDER_KEEP_ALIVE_MS: '6',
  MAIL_HOST: 'mail',
  MAIL_PORT: '587',
  MAIL_USERNAME: 'me',
  MAIL_PASSWORD: 'hush',
  MAIL_FROM: 'Ada <ada@example.com>',
  APP_NAME: 'Engines',
  PORT: '0',
  PUBLIC_URL: 'https://example.com/',
  CORS_ORIGINS: 'https://app.example.com, http://localhost:5173/',
  REQUEST_TIMEOUT_MS: '5000',
  DATABASE_URL: 'postgres://db/questline',
  DATABASE_SHARDS: 'b=postgres://db/b  c=postgres://db/c?options=-csearch_path%3Dc',
  DATABASE_REPLICAS: 'postgres://replica/questline b=postgres://replica/b',
  DATABASE_POOL: '20',
  DATABASE_PREPARE: 'false',
  DATABASE_LISTEN: 'false',
  STORAGE_DIR: '/elsewhere',
  S3_ENDPOINT: 'http://s3',
  S3_BUCKET: 'bucket',
  S3_REGION: 'eu',
  S3_ACCESS_KEY_ID: 'id',
  S3_SECRET_ACCESS_KEY: 'secret',
  S3_PUBLIC_ENDPOINT: 'http://s3.example.com',
  REDIS_URL: 'redis://redis',
  METRICS_TOKEN: 'm'.repeat(16),
  PAID_CALLS_PER_DAY: '7',
  MAX_WAITING: '100',
  MAX_WAITING_PER_OWNER: '10',
  ACCESS_TOKEN_SECONDS: '60',
  REFRESH_TOKEN_SECONDS: '61',
  TRUST_PROXY: 'true',
  ...Object.fromEntries(
    VARIABLES.filter(({ name }) => name.startsWith('RATE_LIMIT_')).map(({ name }) => [name, '77/hour']),
  ),
};

describe('environment variable', () => {
  it.each(VARIABLES.map(({ name }) => name))('%s changes the configuration', (name) => {
    const { [name]: _, ...others } = SAMPLES;
    // A group of variables must be set completely or not at all.
    const left = Object.entries(others).filter(([other]) => !isOfGroup(name, other));
    const without = readConfiguration(Object.fromEntries(left));
    expect(readConfiguration(SAMPLES)).not.toEqual(without);
  });

  it('reads every form', () => {
    expect(readConfiguration(SAMPLES)).toMatchObject({
      selfHost: false,
      realtime: true,
      enrichment: true,
      secrets: { JWT_SECRET: A },
      openAIServer: { baseUrl: 'http://gateway', models: ['one', 'two'], prices: { input: 0.5, output: 2 } },
      providerLimits: { connections: 3, connectTimeoutMs: 4, firstByteTimeoutMs: 0 },
      fallbacks: { one: ['two', 'three'], 'four:8b': ['five'] },
      mail: { port: 587, from: { name: 'Ada', address: 'ada@example.com' } },
      corsOrigins: ['https://app.example.com', 'http://localhost:5173'],
      requestTimeoutMs: 5000,
      rateLimits: { completions: { limit: 77, per: 'hour' }, application: { limit: 77, per: 'hour' } },
    });
  });

  it.each([
    [
      'MODEL_FALLBACKS',
      'one',
      'expected MODEL=FALLBACK,FALLBACK; several models separated by semicolons, got "one"',
    ],
    ['QUESTLINE_RETENTION', 'sessions=0', 'expected KIND=DAYS, several'],
    ['QUESTLINE_RETENTION', 'charges=1', 'expected KIND=DAYS, several'],
    ['QUESTLINE_RETENTION', 'files=1,files=2', 'expected KIND=DAYS, several'],
    ['QUESTLINE_KEEP_NEWEST', 'charges=10', 'expected KIND=NUMBER, several'],
    ['QUESTLINE_KEEP_NEWEST', 'messages=10001', 'expected KIND=NUMBER, several'],
    ['QUESTLINE_CHARGE_ARCHIVE_DAYS', '89', 'expected a whole number from 90 to 36500, got "89"'],
    ['QUESTLINE_AUDIT_RETENTION_DAYS', '0', 'expected a whole number from 1 to 36500, got "0"'],
    ['QUESTLINE_AUDIT_RETENTION_DAYS', 'forever', 'expected a whole number from 1 to 36500, got "forever"'],
    ['MODEL_FALLBACKS', 'one=one', 'expected MODEL=FALLBACK,FALLBACK; several'],
    ['MODEL_FALLBACKS', 'one=two;one=three', 'expected MODEL=FALLBACK,FALLBACK; several'],
    ['CORS_ORIGINS', 'app.example.com', 'expected *, or origins separated by commas'],
    ['CORS_ORIGINS', 'https://app.example.com/path', 'expected *, or origins separated by commas'],
    ['DATABASE_SHARDS', 'b=postgres://db/b', 'requires DATABASE_URL'],
    ['DATABASE_SHARDS', 'home=postgres://db/b', 'expected NAME=URL, several of them separated by spaces'],
    ['DATABASE_SHARDS', 'b=postgres://db/b b=postgres://db/c', 'expected NAME=URL, several of them'],
    ['DATABASE_REPLICAS', 'postgres://replica/questline', 'requires DATABASE_URL'],
    ['DATABASE_REPLICAS', 'mysql://replica/questline', 'expected URL or NAME=URL, several of them separated'],
    ['REQUEST_TIMEOUT_MS', '10', 'expected a whole number from 1000 to 3600000, got "10"'],
    ['OPENAI_PROTOCOL', 'chat', 'requires OPENAI_BASE_URL'],
    ['OPENAI_MODELS', 'a,,b', 'expected list, or distinct names separated by commas, got "a,,b"'],
    ['OPENAI_PRICES', 'free', 'expected INPUT/OUTPUT in USD per million tokens, e.g. 0/0, got "free"'],
    ['RATE_LIMIT_READS', '1000001/hour', 'expected a number from 1 to 1000000 per minute or hour, such as'],
  ])('%s is rejected when it is %s', (name, value, message) => {
    expect(() => readConfiguration({ [name]: value })).toThrow(`${name}: ${message}`);
  });

  it('DATABASE_REPLICAS has names of databases, and several replicas of one', () => {
    const given = {
      DATABASE_URL: 'postgres://db/questline',
      DATABASE_SHARDS: 'b=postgres://db/b',
      DATABASE_REPLICAS:
        'postgres://one/questline  postgres://two/questline home=postgres://three/questline b=postgres://one/b',
    };
    expect(readConfiguration(given).replicas).toEqual({
      home: ['postgres://one/questline', 'postgres://two/questline', 'postgres://three/questline'],
      b: ['postgres://one/b'],
    });
    const unknown = { ...given, DATABASE_SHARDS: 'c=postgres://db/c' };
    expect(() => readConfiguration(unknown)).toThrow('DATABASE_REPLICAS: b is not in DATABASE_SHARDS');
  });

  it('of a secret is never quoted', () => {
    for (const name of [
      'JWT_SECRET',
      'OPENAI_API_KEY',
      'BRAVE_API_KEY',
      'METRICS_TOKEN',
      'DATABASE_URL',
      'DATABASE_SHARDS',
      'DATABASE_REPLICAS',
    ]) {
      const read = () => readConfiguration({ [name]: 'hush \u0000' });
      expect(read).toThrow(name);
      expect(read).not.toThrow('hush');
    }
  });
});

function isOfGroup(name: string, other: string): boolean {
  const groups = [/^S3_(?!REGION|PUBLIC)/, /^MAIL_(USERNAME|PASSWORD)$/];
  if (name === 'DATABASE_URL') return other === 'DATABASE_SHARDS' || other === 'DATABASE_REPLICAS';
  if (name === 'DATABASE_SHARDS') return other === 'DATABASE_REPLICAS';
  if (name === 'OPENAI_BASE_URL') return /^OPENAI_(?!API_KEY)/.test(other);
  return groups.some((group) => group.test(name) && group.test(other));
}

describe('settings of a workspace', () => {
  it('follow the environment', async () => {
    const storageDir = emptyFolder();
    const configuration = readConfiguration({
      STORAGE_DIR: storageDir,
      QUESTLINE_ENRICHMENT: 'true',
      QUESTLINE_AUDIT_RETENTION_DAYS: '365',
      MODEL_FALLBACKS: 'one=two',
      REQUEST_TIMEOUT_MS: '5000',
      BRAVE_API_KEY: 'key',
    });
    const open = async (one: typeof configuration) => {
      const workspace = await openWorkspace({
        configuration: one,
        secrets: findSecrets(storageDir, {}),
        publicUrl: 'http://localhost',
        log: createLog({ secrets: [], destination: { write: () => undefined } }),
        print: () => undefined,
        demo: false,
        observers: [],
        onFailure: undefined,
      });
      onTestFinished(() => workspace.close());
      const { enrichment, fallbacks, requestTimeoutMs, auditRetentionDays, web } = workspace.services;
      const searches = web.search !== undefined;
      return { enrichment, fallbacks, requestTimeoutMs, auditRetentionDays, searches };
    };
    expect(await open(configuration)).toEqual({
      enrichment: true,
      fallbacks: { one: ['two'] },
      requestTimeoutMs: 5000,
      auditRetentionDays: 365,
      searches: true,
    });
    expect(await open(readConfiguration({ STORAGE_DIR: storageDir }))).toEqual({
      enrichment: false,
      fallbacks: {},
      requestTimeoutMs: 60_000,
      auditRetentionDays: null,
      searches: false,
    });
  });
});

describe('MODEL_FALLBACKS', () => {
  it('stops the start when it names a model that no provider has', async () => {
    const storageDir = emptyFolder();
    const open = openWorkspace({
      configuration: readConfiguration({ STORAGE_DIR: storageDir, MODEL_FALLBACKS: 'demo-chat=nothing' }),
      secrets: findSecrets(storageDir, {}),
      publicUrl: 'http://localhost',
      log: createLog({ secrets: [], destination: { write: () => undefined } }),
      print: () => undefined,
      demo: true,
      observers: [],
      onFailure: undefined,
    });
    await expect(open).rejects.toMatchObject({
      name: 'CliError',
      issues: [
        expect.stringMatching(/^MODEL_FALLBACKS: demo-chat: expected .*"nothing". Possible: demo-chat/),
      ],
    });
  });
});

describe('CORS_ORIGINS', () => {
  const APP = 'https://app.example.com';

  async function start(origins: string | undefined) {
    const storageDir = emptyFolder();
    const environment = { PORT: '0', STORAGE_DIR: storageDir, CORS_ORIGINS: origins };
    const server = await startServer({
      configuration: readConfiguration(environment),
      secrets: findSecrets(storageDir, {}),
      log: createLog({ secrets: [], destination: { write: () => undefined } }),
      host: '127.0.0.1',
      print: () => undefined,
    });
    onTestFinished(() => server.stop(0));
    return (method: string, headers: Record<string, string>) =>
      fetch(`${server.url}/api/v1/me`, { method, headers: { origin: APP, ...headers } });
  }

  const preflight = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  };

  it('lets pages of these origins call the API, including its errors, and no others', async () => {
    const ask = await start(`http://localhost:5173, ${APP}`);
    const before = await ask('OPTIONS', preflight);
    expect(before.status).toBe(204);
    expect(Object.fromEntries(before.headers)).toMatchObject({
      'access-control-allow-origin': APP,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization,content-type',
    });
    const refused = await ask('GET', {});
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, APP]);
    expect(refused.headers.get('access-control-expose-headers')).toBe('*');
    expect(refused.headers.get('access-control-allow-credentials')).toBeNull();
    const strange = { origin: 'https://evil.example.com' };
    for (const answer of [await ask('GET', strange), await ask('OPTIONS', { ...preflight, ...strange })]) {
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  it('is off by default', async () => {
    const ask = await start(undefined);
    for (const answer of [await ask('GET', {}), await ask('OPTIONS', preflight)]) {
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
  });
});
