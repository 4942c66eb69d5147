import { badCursor, decodeCursor, encodeCursor, toPage } from '../../contract/cursor.ts';
import type { GetCatalogue } from '../../models/allowed-models.ts';
import type { ModelCatalogue } from '../../models/catalogue.ts';
import { orderByPrice } from '../../models/default-model.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { ModelInfo } from '../../ports/models.ts';
import { type ApplicationModel, listApplicationModels, listModels, type WireModel } from './contract.ts';

export interface ModelsServices extends PipelineServices {
  readonly getCatalogue: GetCatalogue;
}

/** `GET /api/v1/models` */
export function createModelsHandler(services: ModelsServices): Route {
  return defineRoute(listModels, services, async ({ query }, { caller }) => {
    const models = listed(await services.getCatalogue(caller));
    const after = decodeCursor(listModels.id, caller.userId, query.cursor);
    const start = after === undefined ? 0 : models.findIndex(({ id }) => id === after.id) + 1;
    if (after !== undefined && start === 0) throw badCursor();
    return toPage(models.slice(start, start + query.limit + 1), query.limit, toWire, ({ id }) =>
      // Found by id, even if its position has changed.
      encodeCursor(listModels.id, caller.userId, { value: 0, id }),
    );
  });
}

/** `GET /api/models` */
export function createApplicationModelsHandler(services: ModelsServices): Route {
  return defineRoute(listApplicationModels, services, async (_input, { caller }) => ({
    models: listed(await services.getCatalogue(caller)).map(toApplicationModel),
  }));
}

function listed(catalogue: ModelCatalogue): ModelInfo[] {
  return orderByPrice(catalogue.list()).map(({ info }) => info);
}

function toWire(info: ModelInfo): WireModel {
  return {
    id: info.id,
    name: info.name,
    type: info.type,
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
    image: info.image === undefined ? null : toImage(info.image),
  };
}

function toImage({ sizing, supports }: NonNullable<ModelInfo['image']>): WireModel['image'] {
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
    ...(info.replacedBy !== undefined && { replacedBy: info.replacedBy }),
    ...(info.description !== undefined && { description: info.description }),
  };
}
