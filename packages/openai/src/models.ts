import { defineOperation, defineRoute, jsonReply, type Route } from '@questline/core';
import { describeRetired, type ModelsServices, orderByPrice, parseDay } from '@questline/core/internal';
import type { ModelInfo } from '@questline/core/ports';
import * as z from 'zod';
import { openAIErrors, unknownModel } from './errors.ts';

/** One model, in the shapes of both large vendors at once: each client reads the fields that it knows. */
export interface WireModel {
  readonly id: string;
  readonly object: 'model';
  readonly type: 'model';
  /** Epoch seconds of `created_at`. */
  readonly created: number;
  /** The day on which the listing was last checked; 1970 if it is unknown. */
  readonly created_at: string;
  readonly owned_by: string;
  readonly display_name: string;
  readonly shutdown_date: string | null;
  /** `text`, `image`, `embedding`, ... */
  readonly kind: ModelInfo['type'];
  readonly context_window: number;
  readonly max_output_tokens: number;
}

const common = {
  method: 'GET',
  auth: 'key-or-token',
  scopes: [],
  rate: { key: 'standard', user: 'standard' },
  owner: 'none',
  family: 'public',
  errorFormat: openAIErrors,
} as const;

const listModels = defineOperation({
  ...common,
  id: 'listOpenAIModels',
  path: '/v1/models',
  summary: 'List models',
  input: {},
  output: { 200: { description: 'The models that the caller can use.' } },
});

const getModel = defineOperation({
  ...common,
  id: 'getOpenAIModel',
  path: '/v1/models/{model}',
  summary: 'Get a model',
  input: { params: z.object({ model: z.string() }) },
  output: { 200: { description: 'The model.' } },
});

export function modelRoutes(services: ModelsServices): Route[] {
  return [createListModelsHandler(services), createGetModelHandler(services)];
}

function createListModelsHandler(services: ModelsServices): Route {
  return defineRoute(listModels, services, async (_input, { caller }) => {
    const catalogue = await services.getCatalogue(caller.userId);
    const data = orderByPrice(catalogue.list()).map(({ info }) => toWireModel(info));
    return jsonReply(200, {
      object: 'list',
      data,
      has_more: false,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
    });
  });
}

function createGetModelHandler(services: ModelsServices): Route {
  return defineRoute(getModel, services, async ({ params }, { caller }) => {
    const catalogue = await services.getCatalogue(caller.userId);
    const entry = catalogue.find(params.model);
    if (entry === undefined) throw unknownModel(params.model, describeRetired(catalogue, params.model));
    return jsonReply(200, toWireModel(entry.info));
  });
}

function toWireModel(info: ModelInfo): WireModel {
  const checked = info.checkedOn === undefined ? 0 : (parseDay(info.checkedOn) ?? 0);
  return {
    id: info.id,
    object: 'model',
    type: 'model',
    created: Math.floor(checked / 1000),
    created_at: new Date(checked).toISOString(),
    owned_by: info.provider,
    display_name: info.name,
    shutdown_date: info.deprecationDate ?? null,
    kind: info.type,
    context_window: info.contextWindow,
    max_output_tokens: info.maxOutputTokens,
  };
}
