import { badCursor, decodeCursor, encodeCursor, pageOf } from '../http/cursor.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { ModelInfo } from '../ports/models.ts';
import type { CatalogueOf } from '../provider-keys/own-models.ts';
import { defineRoute, type Route } from '../route.ts';
import type { ModelCatalogue } from './catalogue.ts';
import { type ApplicationModel, listApplicationModels, listModels, type WireModel } from './contract.ts';

export interface ModelsServices extends PipelineServices {
  readonly catalogueOf: CatalogueOf;
}

const LISTED: readonly string[] = ['text', 'image', 'speech-to-text', 'video'] satisfies WireModel['type'][];

/** `GET /api/v1/models` */
export function createModelsHandler(services: ModelsServices): Route {
  return defineRoute(listModels, services, async ({ query }, { caller }) => {
    const models = listed(await services.catalogueOf(caller.userId));
    const after = decodeCursor(listModels.id, caller.userId, query.cursor);
    const start = after === undefined ? 0 : models.findIndex(({ id }) => id === after.id) + 1;
    if (after !== undefined && start === 0) throw badCursor();
    return pageOf(models.slice(start, start + query.limit + 1), query.limit, toWire, ({ id }) =>
      // Found by its id, wherever it stands by then.
      encodeCursor(listModels.id, caller.userId, { value: 0, id }),
    );
  });
}

/** `GET /api/models` */
export function createApplicationModelsHandler(services: ModelsServices): Route {
  return defineRoute(listApplicationModels, services, async (_input, { caller }) => ({
    models: listed(await services.catalogueOf(caller.userId)).map(toApplicationModel),
  }));
}

function listed(catalogue: ModelCatalogue): ModelInfo[] {
  return catalogue
    .list()
    .map(({ info }) => info)
    .filter(({ type }) => LISTED.includes(type));
}

function toWire(info: ModelInfo): WireModel {
  return {
    id: info.id,
    name: info.name,
    type: info.type as WireModel['type'],
    backend: info.provider,
    description: info.description ?? null,
    context_window: info.contextWindow,
    max_output_tokens: info.maxOutputTokens,
    supports_streaming: info.supportsStreaming ?? false,
    supports_thinking: info.supportsThinking ?? false,
    supports_tools: info.supportsTools ?? false,
    supports_vision: info.supportsVision ?? false,
    deprecation_date: info.deprecationDate ?? null,
    replaced_by: info.replacedBy ?? null,
    image: info.image === undefined ? null : imageOf(info.image),
  };
}

function imageOf({ sizing, supports }: NonNullable<ModelInfo['image']>): WireModel['image'] {
  return { sizing, supports: { ...supports, qualities: [...supports.qualities] } };
}

function toApplicationModel(info: ModelInfo): ApplicationModel {
  return {
    id: info.id,
    type: info.type,
    name: info.name,
    backend: info.provider,
    contextWindow: info.contextWindow,
    max_tokens: info.maxOutputTokens,
    can_stream: info.supportsStreaming ?? false,
    can_think: info.supportsThinking ?? false,
    supportsVision: info.supportsVision ?? false,
    supportsTools: info.supportsTools ?? false,
    supportsImageVariation: info.image?.supports.edit ?? false,
    pricing: { '0': { input: info.prices?.input ?? 0, output: info.prices?.output ?? 0 } },
    ...(info.deprecationDate !== undefined && { deprecationDate: info.deprecationDate }),
    ...(info.description !== undefined && { description: info.description }),
  };
}
