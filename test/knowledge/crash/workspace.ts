import {
  COLLECTIONS,
  type CreditLedger,
  createApi,
  createDemoProvider,
  createServices,
  type FileRecord,
  type ModelProvider,
  type Services,
} from '@questline/core';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createSqliteDatabase, createSqlPorts, migrate } from '@questline/sql';

/** A worker that shows no sign of life for so long has vanished. */
const LEASE_MS = 400;
/** Every so manieth document is a picture, which no reader takes. */
export const PICTURE_EVERY = 50;

export const documentId = (number: number): string => number.toString(16).padStart(24, '0');

/** Of one to three pieces. */
function textOf(number: number): string {
  const line = (at: number) =>
    `Document ${number} says in line ${at} that thing${number}x${at} is near number ${at}.`;
  return Array.from({ length: 5 + (number % 7) * 12 }, (_, at) => line(at)).join('\n');
}

function fileOf(userId: string, id: string): FileRecord | undefined {
  const number = Number.parseInt(id, 16);
  return {
    id,
    ownerId: userId,
    name: `document ${number}.txt`,
    mimeType: number % PICTURE_EVERY === 0 ? 'image/png' : 'text/plain',
    size: textOf(number).length,
    status: 'clean',
    source: 'upload',
    createdAt: 0,
  };
}

/** Files that are the same in every process, without bytes anywhere. */
function withDocuments(services: Services): Services {
  return {
    ...services,
    library: {
      ...services.library,
      get: async (userId, id) => fileOf(userId, id),
      read: async (_userId, id) => Buffer.from(textOf(Number.parseInt(id, 16))),
    },
    files: {
      ...services.files,
      find: async (userId, id) => {
        const file = fileOf(userId, id);
        return file && { id, name: file.name, mimeType: file.mimeType, isClean: true };
      },
    },
  };
}

/** The offline model, taking its time, so that a process can die at any moment of a call. */
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

/** Just before a piece's charge is settled: it is in the index. Just after: that it is there is not written down yet. */
export type Moment = 'before-settling' | 'after-settling';

/** The same ledger, in a process that gets no further than to this moment. */
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
 * A whole service on one SQLite file, as every process on it has it.
 * @param stuck at which moment this one gets stuck, and who is told.
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
        worker: { leaseMs: LEASE_MS, pollMs: 50 },
        onError: ({ error }) => onError(error),
      },
    ),
  );
  return { services, api: createApi(services), close: () => database.close() };
}
