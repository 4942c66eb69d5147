import { getPayer, withoutModelLists } from '../../contract/call.ts';
import type { GetCatalogue } from '../../models/allowed-models.ts';
import type { CatalogueEntry, ModelCatalogue } from '../../models/catalogue.ts';
import { embeddingModel } from '../../models/embedding.ts';
import { callFailure } from '../../models/failures.ts';
import { embedPaid, type PaidEmbeddingServices } from '../../models/paid-embedding.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { AdmissionControl } from '../../operations/admission-control.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { Store } from '../../ports/store.ts';
import { ApiError } from '../../shared/errors.ts';
import { findSearchedTexts, rankSessions } from './semantic-search.ts';
import { searchSessions } from './semantic-search-contract.ts';

export interface SearchSessionsServices extends PipelineServices, PaidEmbeddingServices {
  readonly store: Store;
  readonly getCatalogue: GetCatalogue;
  readonly adminSettings: AdminSettingsReader;
  readonly admissionControl: AdmissionControl;
  /** Absent: the first embedding model of the catalogue. */
  readonly lakeEmbeddingModel: string | undefined;
}

/** `POST /api/sessions/semantic-search` */
export function createSearchSessionsHandler(services: SearchSessionsServices): Route {
  return defineRoute(searchSessions, services, async ({ body }, call) => {
    services.admissionControl.admit();
    const { enforceCredits } = await services.adminSettings.current();
    const catalogue = await services.getCatalogue({ userId: call.caller.userId });
    const entry = findModel(catalogue, services.lakeEmbeddingModel, enforceCredits);
    const texts = await findSearchedTexts(services.store, call.caller.userId, { signal: call.signal });
    const inputs = [body.query.toWellFormed(), ...texts.map(({ text }) => text)];
    const request = {
      entry,
      key: call.id,
      // The operator chooses the model.
      payer: withoutModelLists(getPayer(call.caller)),
      operation: searchSessions.id,
      requestId: call.requestId,
      isMetered: enforceCredits,
      texts: inputs,
      isBatched: true,
      callerId: call.caller.userId,
    };
    const embed = () =>
      embedPaid(services, request, call.signal).catch((error: unknown) => {
        if (call.signal.aborted) throw new ApiError(400, 'The client disconnected before the answer began');
        throw callFailure(error, 'application');
      });
    const [query = [], ...vectors] = texts.length === 0 ? [] : (await embed()).embeddings;
    const scores = rankSessions(query, texts, vectors, body);
    return { sessionIds: scores.map(({ sessionId }) => sessionId), count: scores.length, scores };
  });
}

/** @throws ApiError 422 `model_unavailable`, `model_disabled` */
function findModel(catalogue: ModelCatalogue, id: string | undefined, isMetered: boolean): CatalogueEntry {
  const models = catalogue.list().filter(({ info }) => info.type === 'embedding');
  const usable = models.find(({ prices }) => !isMetered || prices !== undefined) ?? models[0];
  const wanted = id ?? usable?.info.id;
  if (wanted === undefined) {
    throw new ApiError(422, 'No embedding model is available on this server', { code: 'model_unavailable' });
  }
  return embeddingModel(catalogue, wanted, isMetered);
}
