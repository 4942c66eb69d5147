import type { LakeSearch } from '../../contract/lake-search.ts';
import { isUsable, readableLake, requireDataLakes } from './access.ts';
import { toResult } from './search-handler.ts';
import { type KnowledgeServices, searchLakes } from './sources.ts';

/** Names the charges of the searches within an answer. */
const OPERATION = 'file_search';

/** Searches data lakes for answers, with the rights of their user: access is checked again at each search. */
export function createLakeSearch(services: KnowledgeServices): LakeSearch {
  const findLake = async (userId: string, id: string) => {
    const lake = await readableLake(services, userId, id);
    return isUsable(lake) ? lake : undefined;
  };

  return {
    async findUnreadable(userId, lakeIds) {
      await requireDataLakes(services.adminSettings);
      const lakes = await Promise.all(lakeIds.map((id) => findLake(userId, id)));
      return lakes.indexOf(undefined);
    },

    async search({ lakeIds, userId, ...question }, options) {
      await requireDataLakes(services.adminSettings);
      const lakes = await Promise.all(lakeIds.map((id) => findLake(userId, id)));
      const readable = new Map(
        lakes.flatMap((lake) => (lake === undefined ? [] : [[lake.id, lake] as const])),
      );
      const found = await searchLakes(
        services,
        [...readable.values()],
        { ...question, operation: OPERATION },
        options,
      );
      return found
        .map(toResult)
        .slice(0, question.limit)
        .map(({ file_id: fileId, file_name: name, score, chunk_text: text }) => ({
          fileId,
          name,
          score: Math.min(1, Math.max(0, score)),
          text,
        }));
    },
  };
}
