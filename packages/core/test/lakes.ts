import { createFakeClock, createFakeIds } from '@questline/testing';
import { createServices } from '../src/app/create-services.ts';
import type { Services } from '../src/app/services.ts';
import {
  LAKE_FILES,
  LAKES,
  type LakeFileRecord,
  type LakeRecord,
} from '../src/features/data-lakes/records.ts';
import { FILES, type FileRecord } from '../src/features/files/records.ts';
import { createMemoryPorts } from '../src/memory/ports.ts';
import type { EmbedRequest, EmbedResult, ModelInfo, ModelProvider } from '../src/ports/models.ts';
import type { Incident } from '../src/shared/incident.ts';
import { delayed } from './delayed.ts';

export const toId = (number: number) => `${number}`.padStart(24, '0');
export const LAKE = toId(1);
/** The file in the lake, and the file itself. */
export const ADDED = toId(2);
export const FILE = toId(3);

/** A hundred micro-credits per token. */
export const VECTORS: ModelInfo = {
  ...{ id: 'vectors', name: 'Vectors', type: 'embedding', provider: 'vectors' },
  ...{ contextWindow: 8000, maxOutputTokens: 0, prices: { input: 1 } },
};

export const makeLake = (more: Partial<LakeRecord> = {}): LakeRecord => ({
  ...{ id: LAKE, ownerId: 'ada', name: 'Papers', slug: 'papers', isPublic: false, status: 'active' },
  ...{ fileCount: 1, totalSize: 5, createdAt: 0, updatedAt: 0, ...more },
});

export const makeLakeFile = (more: Partial<LakeFileRecord> = {}): LakeFileRecord => ({
  ...{ id: ADDED, lakeId: LAKE, fileId: FILE, addedBy: 'ada', payer: { account: 'user:ada', userId: 'ada' } },
  ...{ requestId: 'r', size: 5, countedTo: 'ada', status: 'indexing', chunkCount: 0, vectorizedCount: 0 },
  ...{ tries: 0, createdAt: 0, updatedAt: 0, ...more },
});

export const makeFile = (more: Partial<FileRecord> = {}): FileRecord => ({
  ...{ id: FILE, ownerId: 'ada', name: 'a.txt', mimeType: 'text/plain', size: 5, status: 'clean' },
  ...{ source: 'upload', createdAt: 0, objectKey: 'files/1', ...more },
});

export interface LakeOptions {
  readonly models?: readonly ModelInfo[];
  /** Default: a vector from the length of each text. */
  readonly embed?: (request: EmbedRequest) => Promise<EmbedResult>;
  readonly credit?: number;
  readonly admin?: object;
  readonly settings?: object;
  readonly change?: (services: Services) => Partial<Services>;
}

/** Services in memory with data lakes, and an account of ada. */
export async function openLakes(options: LakeOptions = {}) {
  const clock = createFakeClock();
  const incidents: Incident[] = [];
  const requests: EmbedRequest[] = [];
  const models = options.models ?? [VECTORS];
  const provider: ModelProvider = {
    ...{ id: 'vectors', models: () => models, generate: () => Promise.reject(new Error('no')) },
    async embed(request) {
      requests.push(request);
      if (options.embed !== undefined) return options.embed(request);
      return { embeddings: request.inputs.map((text) => [1, text.length]), tokens: request.inputs.length };
    },
  };
  const own = createServices(
    { ...createMemoryPorts({ clock }), models: [provider], clock, ids: createFakeIds() },
    {
      ...{ jwtSecret: 'a'.repeat(64), secretEncryptionKey: 'b'.repeat(64) },
      onError: (incident) => incidents.push(incident),
      admin: { EnableDataLakes: true, ...options.admin },
      ...options.settings,
    },
  );
  const services = {
    ...own,
    ...{ store: delayed(own.store), ledger: delayed(own.ledger), queue: delayed(own.queue, 5) },
    vectors: delayed(own.vectors, 8),
    ...options.change?.(own),
  };
  const { store, ledger, vectors } = own;
  const account = 'user:ada';
  await ledger.grant({ account, amount: options.credit ?? 1_000_000_000, key: 'start', reason: 'start' });
  const add = {
    lake: (more: Partial<LakeRecord> = {}) => store.collection(LAKES).insert(makeLake(more)),
    lakeFile: (more: Partial<LakeFileRecord> = {}) => store.collection(LAKE_FILES).insert(makeLakeFile(more)),
    file: (more: Partial<FileRecord> = {}) => store.collection(FILES).insert(makeFile(more)),
  };
  return {
    ...{ services, clock, incidents, requests, store, vectors, add },
    lakes: store.collection(LAKES),
    lakeFiles: store.collection(LAKE_FILES),
    files: store.collection(FILES),
    /** Charged and held micro-credits. */
    async money() {
      const { posted, held } = await ledger.balance(account);
      return { charged: (options.credit ?? 1_000_000_000) - posted, held };
    },
  };
}
