import type { Payer } from '../call.ts';
import type { CallOptions } from '../ports/options.ts';
import type { SessionRecord } from '../sessions/records.ts';
import { canRead } from '../sharing/access.ts';
import { isUsable, type LakeReaderServices, readableLake, readableLakes } from './access.ts';
import { embedQuestion, type LakeEmbeddingServices, lakeModel } from './embedding.ts';
import { LAKES, type LakeRecord } from './records.ts';
import { findPassages, type LakeSearchServices, type Passage } from './search.ts';

export type KnowledgeServices = LakeReaderServices & LakeEmbeddingServices & LakeSearchServices;

/** Looked into at once. */
const MOST_LAKES = 20;

/** The lakes a session names, as far as this user may read them, and the user's own when it asks for those. */
export async function lakesOfSession(
  services: LakeReaderServices,
  userId: string,
  { dataLakeId, includeLibraryFiles }: SessionRecord,
): Promise<LakeRecord[]> {
  const named = dataLakeId === undefined ? undefined : await readableLake(services, userId, dataLakeId);
  const own =
    includeLibraryFiles === true
      ? await services.store
          .collection(LAKES)
          .find({ ownerId: userId, status: 'active' }, { limit: MOST_LAKES })
      : [];
  const lakes = new Map([...(isUsable(named) ? [named] : []), ...own].map((lake) => [lake.id, lake]));
  return [...lakes.values()];
}

/** What a user may look into without naming it: own lakes, those they are shared with, and their organizations'. */
export async function lakesOfUser(
  { store }: LakeReaderServices,
  userId: string,
): Promise<readonly LakeRecord[]> {
  const readable = await readableLakes(store, userId);
  const lakes = await store.collection(LAKES).find({ ...readable, status: 'active' }, { limit: 200 });
  const nearby = await Promise.all(
    lakes.map(
      async (lake) =>
        // What everybody may read is somebody else's knowledge, unless it is named.
        !lake.isPublic || (await store.collection(LAKES).get(lake.id, canRead(userId))) !== undefined,
    ),
  );
  return lakes.filter((_, index) => nearby[index]).slice(0, MOST_LAKES);
}

/**
 * The best passages of several lakes. Each model asked is paid for once under a key of its own.
 * @throws ApiError 422, ProviderError
 */
export async function searchLakes(
  services: KnowledgeServices,
  lakes: readonly LakeRecord[],
  question: {
    readonly query: string;
    readonly limit: number;
    readonly tags?: readonly string[];
    readonly payer: Payer;
    readonly requestId: string;
    readonly operation: string;
    readonly key: string;
  },
  options: CallOptions,
): Promise<Passage[]> {
  const byModel = new Map<string, string[]>();
  for (const { id, embeddingModel } of lakes) {
    // Nothing was read into it yet.
    if (embeddingModel === undefined) continue;
    byModel.set(embeddingModel, [...(byModel.get(embeddingModel) ?? []), id]);
  }
  const passages: Passage[] = [];
  for (const [model, lakeIds] of byModel) {
    const { query, limit, tags } = question;
    const entry = await lakeModel(services, model);
    const paid = { ...question, entry, texts: [query], key: `${question.key}:${model}` };
    const vector = await embedQuestion(services, paid, options);
    const scope = { lakeIds, ...(tags !== undefined && { tags }) };
    passages.push(...(await findPassages(services, { scope, query, vector, limit, minScore: 0 }, options)));
  }
  return passages.slice(0, question.limit * Math.max(1, byModel.size));
}
