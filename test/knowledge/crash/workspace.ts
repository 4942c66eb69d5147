import { COLLECTIONS, createApi, createDemoProvider, createServices, type Services } from '@questline/core';
import type { FileRecord } from '@questline/core/internal';
import { createIds, createSystemClock } from '@questline/core/memory';
import type { CreditLedger, ModelProvider } from '@questline/core/ports';
import { createSqliteDatabase, createSqlPorts, migrate } from '@questline/sql';

/** Lease of a job: without a heartbeat for this time, another worker takes over. */
const LEASE_MS = 400;
/** Every fiftieth document is an image, which has no text extraction. */
export const PICTURE_EVERY = 50;

export const documentId = (number: number): string => number.toString(16).padStart(24, '0');

/** One to three chunks long. */
function getText(number: number): string {
  const line = (at: number) =>
    `Document ${number} says in line ${at} that thing${number}x${at} is near number ${at}.`;
  return Array.from({ length: 5 + (number % 7) * 12 }, (_, at) => line(at)).join('\n');
}

function makeFile(userId: string, id: string): FileRecord | undefined {
  const number = Number.parseInt(id, 16);
  return {
    id,
    ownerId: userId,
    name: `document ${number}.txt`,
    mimeType: number % PICTURE_EVERY === 0 ? 'image/png' : 'text/plain',
    size: getText(number).length,
    status: 'clean',
    source: 'upload',
    createdAt: 0,
  };
}

/** Replaces the files by generated ones that are equal in every process. */
function withDocuments(services: Services): Services {
  return {
    ...services,
    library: {
      ...services.library,
      get: async (userId, id) => makeFile(userId, id),
      read: async (_userId, id) => Buffer.from(getText(Number.parseInt(id, 16))),
    },
    files: {
      ...services.files,
      find: async (userId, id) => {
        const file = makeFile(userId, id);
        return file && { id, name: file.name, mimeType: file.mimeType, isClean: true };
      },
    },
  };
}

/** The offline model with a delay, so that a kill can hit any moment of a call. */
function createSlowProvider(): ModelProvider {
  const demo = createDemoProvider();
  return {
    ...demo,
    async embed(request, options) {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
      return (await demo.embed?.(request, options)) ?? { embeddings: [], tokens: 0 };
    },
  };
}

/**
 * `before-settling`: the chunk is indexed, but not charged. `after-settling`: it is charged, but not recorded
 * as indexed.
 */
export type Moment = 'before-settling' | 'after-settling';

/** A ledger that stops the process at the given moment. */
function stuckAt(ledger: CreditLedger, moment: Moment, onReached: () => void): CreditLedger {
  const never = new Promise<never>(() => undefined);
  return {
    ...ledger,
    async settle(...settlement) {
      if (moment === 'after-settling') await ledger.settle(...settlement);
      onReached();
      return never;
    },
  };
}

/**
 * A complete service on one SQLite file, as each process opens it.
 * @param stuck the moment at which this process stops, and the callback that reports it.
 */
export async function openWorkspace(
  path: string,
  onError: (error: unknown) => void,
  stuck?: { readonly at: Moment; readonly onReached: () => void },
) {
  const clock = createSystemClock();
  const ids = createIds({ clock });
  const database = createSqliteDatabase({ path, timeoutMs: 20_000 });
  await migrate(database, { collections: COLLECTIONS });
  const ports = createSqlPorts(database, { clock, ids });
  const ledger = stuck === undefined ? ports.ledger : stuckAt(ports.ledger, stuck.at, stuck.onReached);
  const services = withDocuments(
    createServices(
      { ...ports, ledger, models: [createSlowProvider()], clock, ids },
      {
        jwtSecret: 'a'.repeat(64),
        admin: { EnableDataLakes: true },
        rateLimits: { work: { limit: 100_000, per: 'minute' } },
        worker: { leaseMs: LEASE_MS, pollMs: 50 },
        onError: ({ error }) => onError(error),
      },
    ),
  );
  return { services, api: createApi(services, { worker: false }), close: () => database.close() };
}
