import { getPayer } from '../../contract/call.ts';
import { callFailure } from '../../models/failures.ts';
import type { AdmissionControl } from '../../operations/admission-control.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { ApiError, notFound } from '../../shared/errors.ts';
import type { MembershipCheck } from '../organizations/membership.ts';
import { isUsable, readableLake, requireDataLakes } from './access.ts';
import { type SearchResult, searchDataLake } from './contract.ts';
import { embedQuestion, type LakeEmbeddingServices, lakeModel, modelOfLake } from './embedding.ts';
import { LAKE_FILES } from './records.ts';
import { findPassages, type LakeSearchServices, type Passage } from './search.ts';

export interface SearchLakeServices extends PipelineServices, LakeSearchServices, LakeEmbeddingServices {
  readonly isMember: MembershipCheck;
  readonly admissionControl: AdmissionControl;
}

/** `POST /api/v1/data-lakes/{id}/search` */
export function createSearchLakeHandler(services: SearchLakeServices): Route {
  const lakeFiles = services.store.collection(LAKE_FILES);
  return defineRoute(
    searchDataLake,
    services,
    async ({ params, body }, { caller, id, requestId, signal }) => {
      services.admissionControl.admit();
      await requireDataLakes(services.adminSettings);
      const lake = await readableLake(services, caller.userId, params.id);
      if (!isUsable(lake)) throw notFound('Data lake');
      const lakeId = lake.id;
      const [indexing, paused] = await Promise.all([
        lakeFiles.count({ lakeId, status: 'indexing' }),
        lakeFiles.count({ lakeId, status: 'paused' }),
      ]);
      const search = async (model: string): Promise<Passage[]> => {
        const question = {
          entry: await lakeModel(services, model),
          texts: [body.query],
          payer: getPayer(caller),
          requestId,
          operation: searchDataLake.id,
          key: id,
        };
        const { query, top_k: limit, min_score: minScore, tags } = body;
        const vector = await embedQuestion(services, question, { signal }).catch((error: unknown) => {
          if (signal.aborted) throw new ApiError(400, 'The client disconnected before the answer began');
          throw callFailure(error, 'public');
        });
        const scope = { lakeIds: [lakeId], ...(tags.length > 0 && { tags }) };
        return findPassages(services, { scope, query, vector, limit, minScore }, { signal });
      };
      // A lake without any ingested file has no model, and nothing to pay for.
      const passages = lake.embeddingModel === undefined ? [] : await search(lake.embeddingModel);
      return {
        results: passages.map(toResult),
        embedding_model: modelOfLake(services, lake) ?? '',
        partial_results: indexing + paused > 0,
        retrieval_unavailable: { indexing_files: indexing, paused_files: paused },
      };
    },
  );
}

export function toResult({ chunk, file }: Passage): SearchResult {
  return {
    chunk_id: chunk.id,
    file_id: file.id,
    file_name: file.name,
    chunk_text: chunk.text,
    score: chunk.score,
  };
}
