import * as z from 'zod';
import { DEFAULT_SIGN_IN_LIMITS } from '../features/sign-in/limits.ts';
import { adminSettings } from '../operations/admin-settings.ts';
import { DEFAULT_RATE_LIMITS } from '../operations/rates.ts';
import { MAX_NEWEST, RETENTION_KINDS } from '../operations/retention.ts';

const aFunction = z.custom((value) => typeof value === 'function', 'expected a function');

const price = z.number().min(0);

const prices = z
  .object({ secondByResolution: z.record(z.string(), price).optional() })
  .catchall(price.optional());

const modelOverride = z.looseObject({
  disabled: z.boolean().optional(),
  name: z.string().optional(),
  provider: z.string().optional(),
  contextWindow: z.number().int().min(1).optional(),
  maxOutputTokens: z.number().int().min(0).optional(),
  deprecationDate: z.iso.date().optional(),
  prices: prices.optional(),
  priceChanges: z.array(z.looseObject({ from: z.iso.date(), prices })).optional(),
});

const rate = z.object({ limit: z.number().int().min(1), per: z.enum(['minute', 'hour']) });

const signInLimit = z.strictObject({
  limit: z.number().int().min(1),
  seconds: z.number().int().min(1).max(86_400),
});

/** `null` or 0: unlimited. */
const lineLength = z.number().int().min(0).max(9000).nullable();

const secret = z.custom(isSecret, 'expected at least 32 bytes, best as 64 hexadecimal characters');

/** Bytes; `null` or 0: unlimited. */
const quota = z.number().int().min(0).nullable();
/** Seconds. */
const lifetime = z
  .number()
  .int()
  .min(60)
  .max(10 * 365 * 86_400);

/** The options of `createServices`. */
export const settingsSchema = z.strictObject({
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
  paidCallsPerDay: z.number().int().min(0).max(1_000_000_000).nullable().optional(),
  maxWrongCodesPerDay: z.number().int().min(1).max(1_000_000).optional(),
  tokenLifetimes: z.strictObject({ access: lifetime.optional(), refresh: lifetime.optional() }).optional(),
  setupCode: z.string().min(8).max(100).optional(),
  signInLimits: z.partialRecord(z.enum(Object.keys(DEFAULT_SIGN_IN_LIMITS)), signInLimit).optional(),
  completions: z
    .strictObject({
      insufficientCreditsStatus: z.literal([422, 403]),
      metaEvent: z.boolean(),
      deltas: z.boolean(),
    })
    .partial()
    .optional(),
  fallbacks: z.record(z.string(), z.array(z.string())).optional(),
  planModels: z.partialRecord(z.enum(['free', 'basic', 'pro', 'other']), z.array(z.string())).optional(),
  promptCache: z.union([z.enum(['auto', 'off']), z.strictObject({ ttl: z.enum(['5m', '1h']) })]).optional(),
  operations: z
    .union(
      [z.strictObject({ only: z.array(z.string()) }), z.strictObject({ without: z.array(z.string()) })],
      'expected `only` or `without`, with a list of names',
    )
    .optional(),
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
        listed: z.boolean().optional(),
        argumentHint: z.string().min(1).optional(),
        disableModelInvocation: z.boolean().optional(),
      }),
    )
    .refine(
      (skills) => new Set(skills.map(({ id }) => id)).size === skills.length,
      'expected an id of its own for each',
    )
    .optional(),
  voices: z
    .array(
      z.strictObject({
        id: z.string().min(1),
        name: z.string().min(1),
        description: z.string().optional(),
        language: z.string().optional(),
        provider: z.string().optional(),
        model: z.string().optional(),
        preview_url: z.string().optional(),
      }),
    )
    .optional(),
  whatsNew: aFunction.optional(),
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
  documents: z
    .strictObject({
      maxConcurrent: z.number().int().min(1).max(64),
      timeoutMs: z.number().int().min(1).max(3_600_000),
    })
    .partial()
    .optional(),
  files: z
    .strictObject({ storageQuota: z.number().int().min(0), refusedTypes: z.array(z.string()) })
    .partial()
    .optional(),
  storageQuotas: z.strictObject({ artifacts: quota, sessions: quota, lakes: quota }).partial().optional(),
  identity: z
    .strictObject({
      cacheTtlMs: z.number().int().min(0).max(60_000),
      timeoutMs: z.number().int().min(1).max(60_000),
      allowedOrigins: z.array(
        z.string().refine(isOrigin, 'expected an origin, such as https://app.example.com'),
      ),
    })
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
  admission: z.strictObject({ maxWaiting: lineLength, maxWaitingPerOwner: lineLength }).partial().optional(),
  worker: z
    .strictObject({
      leaseMs: z.number().int().min(100),
      pollMs: z.number().int().min(1),
      concurrency: z.record(z.string(), z.number().int().min(0).max(10_000)),
      maxPerOwner: z.record(z.string(), z.number().int().min(1).max(10_000)),
    })
    .partial()
    .optional(),
  unknownPaths: z.enum(['pass', 'not-found']).optional(),
  rootAliases: z.boolean().optional(),
  publicUrl: z
    .string()
    .refine(isPublicUrl, 'expected an http or https URL without credentials, query or fragment')
    .optional(),
  deviceVerificationUrl: z
    .string()
    .refine(isPageUrl, 'expected an http or https URL without credentials or fragment')
    .optional(),
  docsBundle: aFunction.optional(),
  observers: z
    .array(z.custom((value) => typeof value === 'object' && value !== null, 'expected an observer'))
    .optional(),
  onError: aFunction.optional(),
  onEvent: aFunction.optional(),
  auditRetentionDays: z.number().int().min(1).max(36_500).nullish(),
  retention: z.partialRecord(z.enum(RETENTION_KINDS), z.number().int().min(1).max(36_500)).optional(),
  keepNewest: z.partialRecord(z.enum(RETENTION_KINDS), z.number().int().min(1).max(MAX_NEWEST)).optional(),
  chargeArchive: z
    .strictObject({ days: z.number().int().min(90).max(36_500), archive: aFunction })
    .optional(),
  creditsLowAt: z.number().min(0).max(1_000_000_000).optional(),
});

function isSecret(value: unknown): boolean {
  return (typeof value === 'string' || value instanceof Uint8Array) && value.length >= 32;
}

function isPageUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${hash}` === '';
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

function isPublicUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '';
}
