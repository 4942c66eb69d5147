import * as z from 'zod';
import { DEFAULT_RATE_LIMITS } from './identity/rates.ts';
import type { Ports, Settings } from './services.ts';
import { adminSettings } from './settings/admin.ts';
import { DEFAULT_SIGN_IN_LIMITS } from './sign-in/limits.ts';

/** Wrong options of `createServices`: names each of them, what it got and what it wants. Never quotes a secret. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(`createServices: ${faults.join('; ')}`);
    this.faults = faults;
  }
}

type PortName =
  | 'store'
  | 'ledger'
  | 'limiter'
  | 'queue'
  | 'publisher'
  | 'mailer'
  | 'objects'
  | 'moderator'
  | 'vectors'
  | 'clock'
  | 'ids';

const VERBS: Readonly<Record<PortName, readonly string[]>> = {
  store: ['collection', 'transaction'],
  ledger: [
    'balance',
    'hold',
    'renew',
    'settle',
    'release',
    'record',
    'grant',
    'entries',
    'charges',
    'spent',
    'capUsed',
    'sweep',
  ],
  limiter: ['take', 'peek'],
  queue: ['enqueue', 'lease', 'renew', 'finish', 'retry', 'onReady', 'counts'],
  publisher: ['publish', 'subscribe'],
  mailer: ['send'],
  objects: ['put', 'get', 'head', 'remove'],
  moderator: ['check'],
  vectors: ['upsert', 'remove', 'nearest', 'matching', 'count'],
  clock: ['now', 'timer'],
  ids: ['next', 'requestId', 'secret', 'bytes'],
};

const OPTIONAL: ReadonlySet<string> = new Set<PortName>([
  'queue',
  'publisher',
  'mailer',
  'objects',
  'moderator',
  'vectors',
  'clock',
  'ids',
]);

export function checkPorts(ports: Ports): void {
  const given = (ports ?? {}) as unknown as Readonly<Record<string, unknown>>;
  const faults: string[] = [];
  for (const [name, verbs] of Object.entries(VERBS)) {
    const port = given[name];
    if (port === undefined && OPTIONAL.has(name)) continue;
    if (port === null && name === 'moderator') continue;
    const missing = verbs.filter(
      (verb) => typeof (port as Methods | null | undefined)?.[verb] !== 'function',
    );
    if (missing.length === 0) continue;
    const wanted = missing.map((verb) => `${verb}()`).join(', ');
    faults.push(`ports.${name}: expected an object with ${wanted}, got ${shown(port)}`);
  }
  faults.push(...extractorFaults(given.extractors), ...providerFaults(given.models));
  if (faults.length > 0) throw new ConfigurationError(faults);
}

type Methods = Readonly<Record<string, unknown>>;

function extractorFaults(extractors: unknown): string[] {
  if (extractors === undefined) return [];
  if (!Array.isArray(extractors)) {
    return [`ports.extractors: expected a list of text extractors, got ${shown(extractors)}`];
  }
  return extractors.flatMap((extractor: unknown, index) => {
    const { reads, extract } = (extractor ?? {}) as Methods;
    if (typeof reads === 'function' && typeof extract === 'function') return [];
    return [
      `ports.extractors.${index}: expected a text extractor with reads() and extract(), got ${shown(extractor)}`,
    ];
  });
}

function providerFaults(models: unknown): string[] {
  if (!Array.isArray(models)) {
    return [`ports.models: expected a list of model providers, got ${shown(models)}`];
  }
  const ids = new Set<string>();
  return models.flatMap((provider: unknown, index) => {
    const { id, generate, models: list } = (provider ?? {}) as Methods;
    const where = `ports.models.${index}`;
    if (typeof id !== 'string' || typeof generate !== 'function' || typeof list !== 'function') {
      return [`${where}: expected a model provider with id, models() and generate(), got ${shown(provider)}`];
    }
    if (ids.has(id)) return [`${where}: expected an id of its own, got ${shown(id)} a second time`];
    ids.add(id);
    return [];
  });
}

const aFunction = z.custom((value) => typeof value === 'function', 'expected a function');

const price = z.number().min(0);

const modelOverride = z.looseObject({
  disabled: z.boolean().optional(),
  name: z.string().optional(),
  provider: z.string().optional(),
  contextWindow: z.number().int().min(1).optional(),
  maxOutputTokens: z.number().int().min(0).optional(),
  prices: z
    .object({ secondByResolution: z.record(z.string(), price).optional() })
    .catchall(price.optional())
    .optional(),
});

const rate = z.object({ limit: z.number().int().min(1), per: z.enum(['minute', 'hour']) });

const signInLimit = z.strictObject({
  limit: z.number().int().min(1),
  seconds: z.number().int().min(1).max(86_400),
});

const secret = z.custom(isSecret, 'expected at least 32 bytes, best as 64 hexadecimal characters');

const schema = z.strictObject({
  jwtSecret: secret,
  sessionSecret: secret.optional(),
  secretEncryptionKey: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, 'expected 64 hexadecimal characters')
    .optional(),
  creditsPerUsd: z.number().positive().max(1_000_000).optional(),
  models: z.record(z.string(), modelOverride).optional(),
  hideModel: aFunction.optional(),
  admin: adminSettings.partial().optional(),
  rateLimits: z.partialRecord(z.enum(Object.keys(DEFAULT_RATE_LIMITS)), rate).optional(),
  signInLimits: z.partialRecord(z.enum(Object.keys(DEFAULT_SIGN_IN_LIMITS)), signInLimit).optional(),
  completions: z
    .strictObject({ insufficientCreditsStatus: z.literal([422, 403]), metaEvent: z.boolean() })
    .partial()
    .optional(),
  fallbacks: z.record(z.string(), z.array(z.string())).optional(),
  tools: z
    .array(
      z.custom(
        (value) =>
          ['list', 'find', 'select', 'run'].every(
            (verb) => typeof (value as Record<string, unknown>)?.[verb] === 'function',
          ),
        'expected a tool registry, as createToolbox() makes it',
      ),
    )
    .optional(),
  enrichment: z.boolean().optional(),
  skills: z
    .array(
      z.strictObject({
        id: z.string().regex(/^[a-z0-9_-]{1,64}$/, 'expected 1 to 64 of a-z, 0-9, _ and -'),
        name: z.string().min(1),
        description: z.string().min(1),
        instructions: z.string().min(1),
        tools: z.array(z.string()).optional(),
      }),
    )
    .refine(
      (skills) => new Set(skills.map(({ id }) => id)).size === skills.length,
      'expected an id of its own for each',
    )
    .optional(),
  systemPrompt: z.string().optional(),
  inlineAudioMaxBytes: z.number().int().min(0).optional(),
  maxLiveExecutions: z.number().int().min(1).max(1000).optional(),
  generations: z
    .strictObject({
      pollMs: z.number().int().min(100).max(300_000),
      maxMs: z.number().int().min(1000).max(604_800_000),
    })
    .partial()
    .optional(),
  dataLakes: z
    .strictObject({ embeddingModel: z.string().min(1) })
    .partial()
    .optional(),
  files: z
    .strictObject({ storageQuota: z.number().int().min(0), refusedTypes: z.array(z.string()) })
    .partial()
    .optional(),
  appName: z
    .string()
    .regex(/^[^\p{Cc}]{1,100}$/u, 'expected 1 to 100 characters in one line')
    .optional(),
  defaultTheme: z
    .string()
    .regex(/^[^\p{Cc}]{1,50}$/u, 'expected 1 to 50 characters in one line')
    .optional(),
  requestTimeoutMs: z.number().int().min(1).optional(),
  worker: z
    .strictObject({
      leaseMs: z.number().int().min(100),
      pollMs: z.number().int().min(1),
      concurrency: z.record(z.string(), z.number().int().min(0).max(10_000)),
    })
    .partial()
    .optional(),
  unknownPaths: z.enum(['pass', 'not-found']).optional(),
  rootAliases: z.boolean().optional(),
  publicUrl: z
    .string()
    .refine(isPublicUrl, 'expected an http or https URL without credentials, query or fragment')
    .optional(),
  docsBundle: aFunction.optional(),
  observers: z
    .array(z.custom((value) => typeof value === 'object' && value !== null, 'expected an observer'))
    .optional(),
  onError: aFunction.optional(),
});

/** Options whose values are never told. */
const SECRETS: ReadonlySet<unknown> = new Set<keyof Settings>([
  'jwtSecret',
  'sessionSecret',
  'secretEncryptionKey',
]);

/** @throws ConfigurationError */
export function checkSettings(settings: Settings): void {
  const result = schema.safeParse(settings, { jitless: true });
  if (result.success) return;
  throw new ConfigurationError(result.error.issues.flatMap((issue) => faultsOf(issue, settings)));
}

function faultsOf(issue: z.core.$ZodIssue, settings: unknown): string[] {
  const path = ['settings', ...issue.path.map(String)].join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${path}.${key}: expected none, there is no such option`);
  }
  // What came is told by us, and zod's own beginnings say nothing.
  const wanted = issue.message.replace(/^(?:Invalid|Too)[^:]*: /, '').replace(/, received .*$/, '');
  return [
    `${path}: ${wanted}, got ${SECRETS.has(issue.path[0]) ? sized(valueAt(settings, issue.path)) : shown(valueAt(settings, issue.path))}`,
  ];
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) value = (value as Record<PropertyKey, unknown> | undefined)?.[key];
  return value;
}

/** Of a secret, only how long it is. */
function sized(secret: unknown): string {
  return typeof secret === 'string' || secret instanceof Uint8Array ? `${secret.length}` : kindOf(secret);
}

/** Text is only told when it cannot be a secret: short, without anything in front of an `@`. */
function shown(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return kindOf(value);
  return value.length <= 100 && !/[\w:]@/.test(value)
    ? JSON.stringify(value)
    : `text of ${value.length} characters`;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'another object' : `a ${typeof value}`;
}

function isSecret(value: unknown): boolean {
  return (typeof value === 'string' || value instanceof Uint8Array) && value.length >= 32;
}

function isPublicUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '';
}
