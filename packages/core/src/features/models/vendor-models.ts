import * as z from 'zod';
import { defineOperation, type ErrorFormat } from '../../contract/operation.ts';
import { jsonReply } from '../../contract/reply.ts';
import { orderByPrice } from '../../models/default-model.ts';
import { parseDay } from '../../models/model-dates.ts';
import { describeRetired } from '../../models/retired.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { ModelInfo } from '../../ports/models.ts';
import type { ApiError } from '../../shared/errors.ts';
import type { ModelsServices } from './handlers.ts';

/** One model, in the shapes of both large vendors at once: each client reads the fields that it knows. */
interface VendorModel {
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
  /** The context window, under the other vendor's name. */
  readonly max_input_tokens: number;
  /** The maximum output, under the other vendor's name. */
  readonly max_tokens: number;
  /** Not known in the form of the vendor. */
  readonly capabilities: null;
  /** Retired models are not listed. */
  readonly lifecycle: 'active' | 'deprecated';
  /** Not known. */
  readonly deprecated_at: null;
  /** 00:00 UTC of `shutdown_date`. */
  readonly retires_at: string | null;
  /** Not known. */
  readonly line: null;
}

export interface VendorModelsOptions {
  /** Part of the operations' ids. */
  readonly vendor: 'OpenAI' | 'Anthropic';
  readonly errorFormat: ErrorFormat;
  /** Creates the 404 for a model. */
  readonly unknownModel: (id: string, reason?: string) => ApiError;
}

/** `GET /v1/models` and `GET /v1/models/{model}` of a wire that a vendor defines. */
export function vendorModelRoutes(
  services: ModelsServices,
  { vendor, errorFormat, unknownModel }: VendorModelsOptions,
): Route[] {
  const common = {
    method: 'GET',
    counterpart: 'listModels',
    auth: 'key-or-token',
    scopes: [],
    rate: { key: 'standard', user: 'standard' },
    owner: 'none',
    family: 'public',
    errorFormat,
  } as const;
  const listModels = defineOperation({
    ...common,
    id: `list${vendor}Models`,
    path: '/v1/models',
    summary: 'List models',
    input: {},
    output: { 200: { description: 'The models that the caller can use.' } },
  });
  const getModel = defineOperation({
    ...common,
    id: `get${vendor}Model`,
    path: '/v1/models/{model}',
    summary: 'Get a model',
    input: { params: z.object({ model: z.string() }) },
    output: { 200: { description: 'The model.' } },
  });
  return [
    defineRoute(listModels, services, async (_input, { caller }) => {
      const catalogue = await services.getCatalogue(caller);
      const data = orderByPrice(catalogue.list()).map(({ info }) => toVendorModel(info));
      return jsonReply(200, {
        object: 'list',
        data,
        has_more: false,
        first_id: data[0]?.id ?? null,
        last_id: data.at(-1)?.id ?? null,
      });
    }),
    defineRoute(getModel, services, async ({ params }, { caller }) => {
      const catalogue = await services.getCatalogue(caller);
      const entry = catalogue.find(params.model);
      if (entry === undefined) throw unknownModel(params.model, describeRetired(catalogue, params.model));
      return jsonReply(200, toVendorModel(entry.info));
    }),
  ];
}

function toVendorModel(info: ModelInfo): VendorModel {
  const retires = parseDay(info.deprecationDate);
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
    max_input_tokens: info.contextWindow,
    max_tokens: info.maxOutputTokens,
    capabilities: null,
    lifecycle: retires === undefined ? 'active' : 'deprecated',
    deprecated_at: null,
    retires_at: retires === undefined ? null : new Date(retires).toISOString(),
    line: null,
  };
}
