import { shown } from './configuration-error.ts';
import type { Ports } from './ports.ts';
import type { Settings } from './settings.ts';

type PortName =
  | 'store'
  | 'ledger'
  | 'limiter'
  | 'queue'
  | 'publisher'
  | 'eventLog'
  | 'mailer'
  | 'objects'
  | 'moderator'
  | 'vectors'
  | 'webhooks'
  | 'clock'
  | 'ids'
  | 'identity';

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
  eventLog: ['append', 'read', 'compact', 'expire'],
  mailer: ['send'],
  objects: ['put', 'get', 'head', 'remove'],
  moderator: ['check'],
  vectors: ['upsert', 'remove', 'nearest', 'matching', 'count'],
  webhooks: ['isAllowed', 'send'],
  clock: ['now', 'timer'],
  ids: ['next', 'requestId', 'secret', 'bytes'],
  identity: ['identify'],
};

const OPTIONAL: ReadonlySet<string> = new Set<PortName>([
  'queue',
  'publisher',
  'eventLog',
  'mailer',
  'objects',
  'moderator',
  'vectors',
  'webhooks',
  'clock',
  'ids',
  'identity',
]);

/** @returns what is wrong with each port. */
export function findPortIssues(ports: Ports): string[] {
  const given = (ports ?? {}) as unknown as Readonly<Record<string, unknown>>;
  const issues: string[] = [];
  for (const [name, verbs] of Object.entries(VERBS)) {
    const port = given[name];
    if (port === undefined && OPTIONAL.has(name)) continue;
    if (port === null && name === 'moderator') continue;
    const missing = verbs.filter(
      (verb) => typeof (port as Methods | null | undefined)?.[verb] !== 'function',
    );
    if (missing.length === 0) continue;
    const wanted = missing.map((verb) => `${verb}()`).join(', ');
    issues.push(`ports.${name}: expected an object with ${wanted}, got ${shown(port)}`);
  }
  return [...issues, ...findExtractorIssues(given.extractors), ...findProviderIssues(given.models)];
}

/** @returns what is missing for the archive of charges, if it is set. */
export function findArchiveIssues(ports: Ports, settings: Pick<Settings, 'chargeArchive'>): string[] {
  const { archiveCharges } = (ports?.ledger ?? {}) as unknown as Methods;
  if (settings?.chargeArchive === undefined || typeof archiveCharges === 'function') return [];
  return [`settings.chargeArchive: expected a ledger with archiveCharges(), got ${shown(ports?.ledger)}`];
}

type Methods = Readonly<Record<string, unknown>>;

function findExtractorIssues(extractors: unknown): string[] {
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

function findProviderIssues(models: unknown): string[] {
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
