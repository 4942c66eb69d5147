import { ConfigurationError, createServices, type Ports, type Settings } from '@questline/core';
import { createMemoryPorts } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import { createScriptedProvider } from '../support/model.ts';

const SECRET = 'a'.repeat(64);
const SKILL = { id: 'a', name: 'a', description: 'a', instructions: 'a' };
const PORTS: Ports = { ...createMemoryPorts(), models: [] };

function getFaults(ports: unknown, settings: unknown): readonly string[] {
  try {
    createServices(ports as Ports, settings as Settings);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    const { issues, message } = error as ConfigurationError;
    expect(message).toBe(`createServices: ${issues.join('; ')}`);
    return issues;
  }
}

/** Invalid values of every option, with their error messages. */
const SETTINGS: Readonly<Record<keyof Settings, readonly (readonly [value: unknown, fault: string])[]>> = {
  operations: [
    [{}, 'settings.operations: expected `only` or `without`, with a list of names, got another object'],
    [
      { only: ['chat'], without: [] },
      'settings.operations: expected `only` or `without`, with a list of names, got another object',
    ],
  ],
  onEvent: [['log', 'settings.onEvent: expected a function, got "log"']],
  auditRetentionDays: [[0, 'settings.auditRetentionDays: expected number to be >=1, got 0']],
  retention: [[{ sessions: 0 }, 'settings.retention.sessions: expected number to be >=1, got 0']],
  chargeArchive: [
    [
      { days: 89, archive: () => undefined },
      'settings.chargeArchive.days: expected number to be >=90, got 89',
    ],
    [{ days: 90 }, 'settings.chargeArchive.archive: expected a function, got nothing'],
  ],
  keepNewest: [
    [{ messages: 0 }, 'settings.keepNewest.messages: expected number to be >=1, got 0'],
    [{ quests: 10_001 }, 'settings.keepNewest.quests: expected number to be <=10000, got 10001'],
  ],
  admission: [
    [{ maxWaiting: -1 }, 'settings.admission.maxWaiting: expected number to be >=0, got -1'],
    [
      { maxWaitingPerOwner: 9001 },
      'settings.admission.maxWaitingPerOwner: expected number to be <=9000, got 9001',
    ],
  ],
  creditsLowAt: [[-1, 'settings.creditsLowAt: expected number to be >=0, got -1']],
  observers: [
    [{}, 'settings.observers: expected array, got another object'],
    [['all'], 'settings.observers.0: expected an observer, got "all"'],
  ],
  jwtSecret: [
    [
      undefined,
      'settings.jwtSecret: expected at least 32 bytes, best as 64 hexadecimal characters, got nothing',
    ],
    [
      'too-short-secret',
      'settings.jwtSecret: expected at least 32 bytes, best as 64 hexadecimal characters, got 16',
    ],
    [
      new Uint8Array(31),
      'settings.jwtSecret: expected at least 32 bytes, best as 64 hexadecimal characters, got 31',
    ],
    [7, 'settings.jwtSecret: expected at least 32 bytes, best as 64 hexadecimal characters, got a number'],
  ],
  sessionSecret: [
    [
      's'.repeat(31),
      'settings.sessionSecret: expected at least 32 bytes, best as 64 hexadecimal characters, got 31',
    ],
    [
      7,
      'settings.sessionSecret: expected at least 32 bytes, best as 64 hexadecimal characters, got a number',
    ],
  ],
  secretEncryptionKey: [
    ['b'.repeat(63), 'settings.secretEncryptionKey: expected 64 hexadecimal characters, got 63'],
    ['x'.repeat(64), 'settings.secretEncryptionKey: expected 64 hexadecimal characters, got 64'],
    [7, 'settings.secretEncryptionKey: expected string, got a number'],
  ],
  identity: [
    [{ cacheTtlMs: -1 }, 'settings.identity.cacheTtlMs: expected number to be >=0, got -1'],
    [{ cacheTtlMs: 60_001 }, 'settings.identity.cacheTtlMs: expected number to be <=60000, got 60001'],
    [{ timeoutMs: 0 }, 'settings.identity.timeoutMs: expected number to be >=1, got 0'],
    [
      { allowedOrigins: ['https://app.example.com/'] },
      'settings.identity.allowedOrigins.0: expected an origin, such as https://app.example.com, got "https://app.example.com/"',
    ],
    [{ ttl: 1 }, 'settings.identity.ttl: unknown option'],
  ],
  maxWrongCodesPerDay: [[0, 'settings.maxWrongCodesPerDay: expected number to be >=1, got 0']],
  tokenLifetimes: [
    [{ access: 59 }, 'settings.tokenLifetimes.access: expected number to be >=60, got 59'],
    [{ forever: 1 }, 'settings.tokenLifetimes.forever: unknown option'],
  ],
  setupCode: [['short', 'settings.setupCode: expected string to have >=8 characters, got 5']],
  creditsPerUsd: [
    [0, 'settings.creditsPerUsd: expected number to be >0, got 0'],
    ['100', 'settings.creditsPerUsd: expected number, got "100"'],
    [Number.NaN, 'settings.creditsPerUsd: expected number, got NaN'],
    [Number.POSITIVE_INFINITY, 'settings.creditsPerUsd: expected number, got Infinity'],
    [null, 'settings.creditsPerUsd: expected number, got null'],
  ],
  models: [
    [[], 'settings.models: expected record, got a list'],
    [{ 'gpt-5': 'off' }, 'settings.models.gpt-5: expected object, got "off"'],
    [{ 'gpt-5': { disabled: 1 } }, 'settings.models.gpt-5.disabled: expected boolean, got 1'],
    [
      { 'gpt-5': { prices: { input: -1 } } },
      'settings.models.gpt-5.prices.input: expected number to be >=0, got -1',
    ],
    [
      { 'gpt-5': { contextWindow: 0 } },
      'settings.models.gpt-5.contextWindow: expected number to be >=1, got 0',
    ],
  ],
  hideModel: [[true, 'settings.hideModel: expected a function, got true']],
  admin: [
    [{ enforceCredits: 'yes' }, 'settings.admin.enforceCredits: expected boolean, got "yes"'],
    [{ defaultFreeCredits: -1 }, 'settings.admin.defaultFreeCredits: expected number to be >=0, got -1'],
    [{ MaxFileSize: 1.5 }, 'settings.admin.MaxFileSize: expected int, got 1.5'],
    [{ enforcecredits: true }, 'settings.admin.enforcecredits: unknown option'],
  ],
  rateLimits: [
    [
      { completions: { limit: 0, per: 'hour' } },
      'settings.rateLimits.completions.limit: expected number to be >=1, got 0',
    ],
    [
      { completions: { limit: 1, per: 'day' } },
      'settings.rateLimits.completions.per: expected one of "minute"|"hour", got "day"',
    ],
    [{ nothing: { limit: 1, per: 'hour' } }, 'settings.rateLimits.nothing: unknown option'],
  ],
  storageQuotas: [
    [{ artifacts: -1 }, 'settings.storageQuotas.artifacts: expected number to be >=0, got -1'],
    [{ nothing: 1 }, 'settings.storageQuotas.nothing: unknown option'],
  ],
  paidCallsPerDay: [
    [-1, 'settings.paidCallsPerDay: expected number to be >=0, got -1'],
    ['many', 'settings.paidCallsPerDay: expected number, got "many"'],
  ],
  signInLimits: [
    [
      { sendFrom: { limit: 0, seconds: 60 } },
      'settings.signInLimits.sendFrom.limit: expected number to be >=1, got 0',
    ],
    [{ refresh: { limit: 1, seconds: 0.5 } }, 'settings.signInLimits.refresh.seconds: expected int, got 0.5'],
    [{ sendTwice: { limit: 1, seconds: 1 } }, 'settings.signInLimits.sendTwice: unknown option'],
  ],
  completions: [
    [
      { insufficientCreditsStatus: 402 },
      'settings.completions.insufficientCreditsStatus: expected one of 422|403, got 402',
    ],
    [{ metaEvent: 'no' }, 'settings.completions.metaEvent: expected boolean, got "no"'],
    [{ deltas: 1 }, 'settings.completions.deltas: expected boolean, got 1'],
  ],
  promptCache: [
    ['always', 'settings.promptCache: Invalid input, got "always"'],
    [{ ttl: '2h' }, 'settings.promptCache: Invalid input, got another object'],
  ],
  planModels: [
    [{ gold: ['a'] }, 'settings.planModels.gold: unknown option'],
    [{ free: 'a' }, 'settings.planModels.free: expected array, got "a"'],
  ],
  fallbacks: [
    [{ a: 'b' }, 'settings.fallbacks.a: expected array, got "b"'],
    [['a'], 'settings.fallbacks: expected record, got a list'],
  ],
  tools: [
    [[{}], 'settings.tools.0: expected a tool registry, as createToolbox() makes it, got another object'],
    ['all', 'settings.tools: expected array, got "all"'],
  ],
  generations: [
    [{ pollMs: 99 }, 'settings.generations.pollMs: expected number to be >=100, got 99'],
    [{ maxMs: 0 }, 'settings.generations.maxMs: expected number to be >=1000, got 0'],
    [{ often: true }, 'settings.generations.often: unknown option'],
  ],
  dataLakes: [
    [
      { embeddingModel: '' },
      'settings.dataLakes.embeddingModel: expected string to have >=1 characters, got ""',
    ],
    [{ model: 'x' }, 'settings.dataLakes.model: unknown option'],
  ],
  documents: [
    [{ maxConcurrent: 0 }, 'settings.documents.maxConcurrent: expected number to be >=1, got 0'],
    [{ timeoutMs: 0 }, 'settings.documents.timeoutMs: expected number to be >=1, got 0'],
    [{ memory: 1 }, 'settings.documents.memory: unknown option'],
  ],
  files: [
    [{ storageQuota: -1 }, 'settings.files.storageQuota: expected number to be >=0, got -1'],
    [{ refusedTypes: 'image/png' }, 'settings.files.refusedTypes: expected array, got "image/png"'],
    [{ quota: 1 }, 'settings.files.quota: unknown option'],
  ],
  appName: [
    [7, 'settings.appName: expected string, got 7'],
    ['a\nb', 'settings.appName: expected 1 to 100 characters in one line, got "a\\nb"'],
  ],
  defaultTheme: [
    ['', 'settings.defaultTheme: expected 1 to 50 characters in one line, got ""'],
    [7, 'settings.defaultTheme: expected string, got 7'],
  ],
  enrichment: [['on', 'settings.enrichment: expected boolean, got "on"']],
  skills: [
    [
      [{ id: 'A b', name: 'x', description: 'x', instructions: 'x' }],
      'settings.skills.0.id: expected 1 to 64 of a-z, 0-9, _ and -, got "A b"',
    ],
    [[SKILL, SKILL], 'settings.skills: expected an id of its own for each, got a list'],
    [
      [{ ...SKILL, instructions: '' }],
      'settings.skills.0.instructions: expected string to have >=1 characters, got ""',
    ],
  ],
  systemPrompt: [[7, 'settings.systemPrompt: expected string, got 7']],
  inlineAudioMaxBytes: [
    [-1, 'settings.inlineAudioMaxBytes: expected number to be >=0, got -1'],
    ['4 MB', 'settings.inlineAudioMaxBytes: expected number, got "4 MB"'],
  ],
  maxLiveExecutions: [
    [0, 'settings.maxLiveExecutions: expected number to be >=1, got 0'],
    [1001, 'settings.maxLiveExecutions: expected number to be <=1000, got 1001'],
  ],
  requestTimeoutMs: [
    [0, 'settings.requestTimeoutMs: expected number to be >=1, got 0'],
    ['60s', 'settings.requestTimeoutMs: expected number, got "60s"'],
  ],
  worker: [
    [{ leaseMs: 1 }, 'settings.worker.leaseMs: expected number to be >=100, got 1'],
    [{ concurrency: { chat: -1 } }, 'settings.worker.concurrency.chat: expected number to be >=0, got -1'],
  ],
  rootAliases: [['yes', 'settings.rootAliases: expected boolean, got "yes"']],
  unknownPaths: [['404', 'settings.unknownPaths: expected one of "pass"|"not-found", got "404"']],
  publicUrl: [
    [
      'ai.example.com',
      'settings.publicUrl: expected an http or https URL without credentials, query or fragment, got "ai.example.com"',
    ],
    [
      'ftp://ai.example.com',
      'settings.publicUrl: expected an http or https URL without credentials, query or fragment, got "ftp://ai.example.com"',
    ],
    [
      'https://ai.example.com/?a=1',
      'settings.publicUrl: expected an http or https URL without credentials, query or fragment, got "https://ai.example.com/?a=1"',
    ],
    [
      'https://root:hunter2@ai.example.com',
      'settings.publicUrl: expected an http or https URL without credentials, query or fragment, got text of 35 characters',
    ],
  ],
  deviceVerificationUrl: [
    [
      'ai.example.com/device',
      'settings.deviceVerificationUrl: expected an http or https URL without credentials or fragment, got "ai.example.com/device"',
    ],
    [
      'https://ai.example.com/#/device',
      'settings.deviceVerificationUrl: expected an http or https URL without credentials or fragment, got "https://ai.example.com/#/device"',
    ],
  ],
  voices: [[[{ id: 'x' }], 'settings.voices.0.name: expected string, got nothing']],
  whatsNew: [['news', 'settings.whatsNew: expected a function, got "news"']],
  docsBundle: [['redoc.js', 'settings.docsBundle: expected a function, got "redoc.js"']],
  onError: [[console, 'settings.onError: expected a function, got another object']],
};

describe('invalid settings', () => {
  const rows = Object.entries(SETTINGS).flatMap(([name, wrong]) =>
    wrong.map(([value, fault]) => [fault, name, value] as const),
  );

  it.each(rows)('%s', (fault, name, value) => {
    expect(getFaults(PORTS, { jwtSecret: SECRET, [name]: value })).toEqual([fault]);
  });

  it('are reported together', () => {
    expect(getFaults(PORTS, { jwtSecret: 'x', publicUrl: 7, creditsPerUsd: 0 })).toHaveLength(3);
  });

  it('may be missing or undefined', () => {
    expect(getFaults(PORTS, undefined)).toEqual(['settings: expected object, got nothing']);
    expect(getFaults(PORTS, { jwtSecret: SECRET, JWT_SECRET: SECRET })).toEqual([
      'settings.JWT_SECRET: unknown option',
    ]);
  });

  it('are reported without secrets', () => {
    const marked = 'MARKED-SECRET';
    const reported = [
      getFaults(PORTS, { jwtSecret: marked }),
      getFaults(PORTS, { jwtSecret: SECRET, sessionSecret: marked }),
      getFaults(PORTS, { jwtSecret: SECRET, secretEncryptionKey: marked }),
      getFaults(PORTS, { jwtSecret: { secret: marked } }),
      getFaults(PORTS, { jwtSecret: SECRET, jwtSecrets: marked }),
      getFaults(PORTS, { jwtSecret: SECRET, publicUrl: `postgres://root:${marked}@db:5432/x` }),
    ].flat();
    expect(reported).toHaveLength(6);
    expect(reported.join()).not.toContain(marked);
  });
});

describe('invalid ports', () => {
  const { store: _, ...withoutStore } = PORTS;
  const provider = createScriptedProvider();
  const rows: readonly (readonly [fault: string, ports: unknown])[] = [
    ['ports.store: expected an object with collection(), transaction(), got nothing', withoutStore],
    [
      'ports.store: expected an object with transaction(), got another object',
      { ...PORTS, store: { collection: () => undefined } },
    ],
    ['ports.limiter: expected an object with take(), peek(), got null', { ...PORTS, limiter: null }],
    [
      'ports.queue: expected an object with enqueue(), lease(), renew(), finish(), retry(), onReady(), counts(), got "redis"',
      { ...PORTS, queue: 'redis' },
    ],
    [
      'ports.publisher: expected an object with publish(), subscribe(), got a function',
      { ...PORTS, publisher: () => undefined },
    ],
    [
      'ports.vectors: expected an object with upsert(), remove(), nearest(), matching(), count(), got "sql"',
      { ...PORTS, vectors: 'sql' },
    ],
    [
      'ports.extractors: expected a list of text extractors, got a function',
      { ...PORTS, extractors: () => [] },
    ],
    [
      'ports.extractors.0: expected a text extractor with reads() and extract(), got another object',
      { ...PORTS, extractors: [{ reads: () => true }] },
    ],
    ['ports.identity: expected an object with identify(), got a function', { ...PORTS, identity: () => {} }],
    ['ports.mailer: expected an object with send(), got a function', { ...PORTS, mailer: () => {} }],
    [
      'ports.webhooks: expected an object with isAllowed(), send(), got another object',
      { ...PORTS, webhooks: {} },
    ],
    [
      'ports.objects: expected an object with put(), get(), head(), remove(), got "s3"',
      { ...PORTS, objects: 's3' },
    ],
    ['ports.moderator: expected an object with check(), got false', { ...PORTS, moderator: false }],
    ['ports.clock: expected an object with now(), timer(), got another object', { ...PORTS, clock: {} }],
    [
      'ports.ids: expected an object with next(), requestId(), secret(), bytes(), got 7',
      { ...PORTS, ids: 7 },
    ],
    ['ports.models: expected a list of model providers, got nothing', { ...PORTS, models: undefined }],
    ['ports.models: expected a list of model providers, got another object', { ...PORTS, models: provider }],
    [
      'ports.models.1: expected a model provider with id, models() and generate(), got null',
      { ...PORTS, models: [provider, null] },
    ],
    [
      'ports.models.1: expected an id of its own, got "scripted" a second time',
      { ...PORTS, models: [provider, createScriptedProvider()] },
    ],
  ];

  it.each(rows)('%s', (fault, ports) => {
    expect(getFaults(ports, { jwtSecret: SECRET })).toEqual([fault]);
  });

  it('are reported together with invalid settings', () => {
    const faults = getFaults({ ...PORTS, models: undefined }, { jwtSecret: 'short', onEvent: 'log' });
    expect(faults.map((fault) => fault.split(':')[0])).toEqual([
      'ports.models',
      'settings.jwtSecret',
      'settings.onEvent',
    ]);
  });

  it('are reported together, also when all are missing', () => {
    expect(getFaults(undefined, { jwtSecret: SECRET }).map((fault) => fault.split(':')[0])).toEqual([
      'ports.store',
      'ports.ledger',
      'ports.limiter',
      'ports.models',
    ]);
  });
});
