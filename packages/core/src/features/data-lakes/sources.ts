import { canRead } from '../../access/access.ts';
import type { Payer } from '../../contract/call.ts';
import type { SessionSettings } from '../../contract/session.ts';
import type { CallOptions } from '../../ports/options.ts';
import { isUsable, type LakeReaderServices, readableLake, readableLakes } from './access.ts';
import { embedQuestion, type LakeEmbeddingServices, lakeModel } from './embedding.ts';
import { LAKES, type LakeRecord } from './records.ts';
import { findPassages, type LakeSearchServices, type Passage } from './search.ts';

export type KnowledgeServices = LakeReaderServices & LakeEmbeddingServices & LakeSearchServices;

/** Maximum lakes per search. */
const MAX_LAKES = 20;

/** The lakes of a session that this user may read, plus the user's own if the session enables them. */
export async function lakesOfSession(
  services: LakeReaderServices,
  userId: string,
  { dataLakeId, includeLibraryFiles }: SessionSettings,
): Promise<LakeRecord[]> {
  const named = dataLakeId === undefined ? undefined : await readableLake(services, userId, dataLakeId);
  const own =
    includeLibraryFiles === true
      ? await services.store
          .collection(LAKES)
          .find({ ownerId: userId, status: 'active' }, { limit: MAX_LAKES })
      : [];
  const lakes = new Map([...(isUsable(named) ? [named] : []), ...own].map((lake) => [lake.id, lake]));
  return [...lakes.values()];
}

/** Lakes that a user searches without naming them: own lakes, shared ones, and those of the user's organizations. */
export async function lakesOfUser(
  { store }: LakeReaderServices,
  userId: string,
): Promise<readonly LakeRecord[]> {
  const readable = await readableLakes(store, userId);
  const lakes = await store.collection(LAKES).find({ ...readable, status: 'active' }, { limit: 200 });
  const nearby = await Promise.all(
    lakes.map(
      async (lake) =>
        // Public lakes of other users are searched only by name.
        !lake.isPublic || (await store.collection(LAKES).get(lake.id, canRead(userId))) !== undefined,
    ),
  );
  return lakes.filter((_, index) => nearby[index]).slice(0, MAX_LAKES);
}

/**
 * Returns the best passages of several lakes. Each model call is charged once under a key of its own.
 * @throws ApiError 422, ProviderError
 */
export async function searchLakes(
  services: KnowledgeServices,
  lakes: readonly LakeRecord[],
  question: {
    readonly query: string;
    readonly limit: number;
    /** Default 0. */
    readonly minScore?: number;
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
    // No file was ingested yet.
    if (embeddingModel === undefined) continue;
    byModel.set(embeddingModel, [...(byModel.get(embeddingModel) ?? []), id]);
  }
  const passages: Passage[] = [];
  for (const [model, lakeIds] of byModel) {
    const { query, limit, minScore = 0, tags } = question;
    const entry = await lakeModel(services, model);
    const paid = { ...question, entry, texts: [query], key: `${question.key}:${model}` };
    const vector = await embedQuestion(services, paid, options);
    const scope = { lakeIds, ...(tags !== undefined && { tags }) };
    passages.push(...(await findPassages(services, { scope, query, vector, limit, minScore }, options)));
  }
  return passages.slice(0, question.limit * Math.max(1, byModel.size));
}
