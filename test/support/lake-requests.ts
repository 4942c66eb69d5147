import type { Services } from '@questline/core';
import { FILES, LAKE_FILES, LAKES, type LakeFileRecord, type LakeRecord } from '@questline/core/internal';
import { type ModelInfo, ProviderError, type Store } from '@questline/core/ports';
import type { AnswerBody } from './answers.ts';
import { type CallAnswer, callAs } from './sharing.ts';
import { createTestApp, type TestApp, type TestAppOptions } from './test-app.ts';

export const toId = (number: number) => `${number}`.padStart(24, '0');
export const LAKE = toId(1);
/** The entry of the file in the lake, and the file. */
export const ADDED = toId(2);
export const FILE = toId(3);

/** A hundred micro-credits per token. */
const VECTORS: ModelInfo = {
  ...{ id: 'vectors', name: 'Vectors', type: 'embedding', provider: 'vectors' },
  ...{ contextWindow: 8000, maxOutputTokens: 0, prices: { input: 1 } },
};

interface LakeRequestOptions extends TestAppOptions {
  readonly change?: (own: Services) => Partial<Services>;
  readonly embed?: (signal: AbortSignal | undefined) => Promise<readonly number[]>;
  readonly hasModel?: boolean;
}

export interface LakeRequestApp extends TestApp {
  /** Sends a request of the owner, below `/api/v1/data-lakes`. */
  call<const Method extends string, const Path extends string>(
    method: Method,
    path: Path,
    body?: object,
  ): Promise<CallAnswer<AnswerBody<Method, `/api/v1/data-lakes${Path}`>>>;
  readonly lakes: ReturnType<typeof getLakes>;
  readonly lakeFiles: ReturnType<typeof getLakeFiles>;
  addLake(more?: Partial<LakeRecord>): Promise<unknown>;
  addLakeFile(more?: Partial<LakeFileRecord>): Promise<unknown>;
  addFile(more?: object): Promise<unknown>;
  /** Leases the jobs of the queue. */
  listJobs(): Promise<unknown[]>;
}

const getLakes = (store: Store) => store.collection(LAKES);
const getLakeFiles = (store: Store) => store.collection(LAKE_FILES);

/** An app with data lakes, without a worker. */
export async function openLakeApp(options: LakeRequestOptions = {}): Promise<LakeRequestApp> {
  const { change, embed = async () => [1, 0], hasModel = true, ...more } = options;
  const app = await createTestApp({
    ...more,
    models: [
      {
        ...{ id: 'vectors', models: () => (hasModel ? [VECTORS] : []) },
        generate: () => Promise.reject(new ProviderError('failed', 'no')),
        embed: async ({ inputs }, { signal }) => ({
          embeddings: await Promise.all(inputs.map(() => embed(signal))),
          tokens: 1,
        }),
      },
    ],
    services: (own) => ({ ...own, ...change?.(own) }),
    settings: { admin: { EnableDataLakes: true } },
  });
  const { store, queue } = app.services;
  const ownerId = app.user.id;
  const created = { createdAt: 5, updatedAt: 5 };
  return {
    ...app,
    call: (method, path, body) => callAs(app, app.user, method, `/api/v1/data-lakes${path}`, body),
    lakes: getLakes(store),
    lakeFiles: getLakeFiles(store),
    addLake: (record) =>
      getLakes(store).insert({
        ...{ id: LAKE, ownerId, name: 'Papers', slug: `lake-${record?.id ?? ''}`, isPublic: false },
        ...{ status: 'active', fileCount: 0, totalSize: 0, ...created, ...record },
      }),
    addLakeFile: (record) =>
      getLakeFiles(store).insert({
        ...{ id: ADDED, lakeId: LAKE, fileId: FILE, addedBy: ownerId, requestId: 'r', size: 5 },
        ...{ payer: { account: app.account, userId: ownerId }, countedTo: ownerId, status: 'indexing' },
        ...{ chunkCount: 0, vectorizedCount: 0, tries: 0, ...created, ...record },
      }),
    addFile: (record) =>
      store.collection(FILES).insert({
        ...{ id: FILE, ownerId, name: 'a.txt', mimeType: 'text/plain', size: 5, status: 'clean' },
        ...{ source: 'upload', createdAt: 0, objectKey: 'files/1', ...record },
      } as never),
    async listJobs() {
      const kinds = ['data-lakes.ingest', 'data-lakes.forget-file', 'data-lakes.purge'];
      const jobs = await queue.lease({ kinds, limit: 9, leaseMs: 1000 });
      return jobs.map(({ key }) => key);
    },
  };
}

/** A store in which other work is done between the first read of a collection and its answer. */
export function meanwhile(
  store: Store,
  { name }: { readonly name: string },
  work: () => Promise<unknown>,
): Store {
  let isDone = false;
  return {
    ...store,
    collection(definition) {
      const records = store.collection(definition);
      if (definition.name !== name) return records;
      const after = async <T>(answer: Promise<T>): Promise<T> => {
        const found = await answer;
        const isFirst = !isDone;
        isDone = true;
        if (isFirst) await work();
        return found;
      };
      return {
        ...records,
        get: (...given) => after(records.get(...given)),
        find: (...given) => after(records.find(...given)),
      };
    },
  };
}

export const AWAY = ({ queue }: Services): Partial<Services> => ({
  queue: { ...queue, enqueue: () => Promise.reject(new Error('away')) },
});
