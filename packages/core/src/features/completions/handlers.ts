import { Reply } from '../../contract/reply.ts';
import { STREAM_HEADERS } from '../../http/sse.ts';
import type { GetCatalogue } from '../../models/allowed-models.ts';
import { fallbackModels } from '../../models/candidates.ts';
import type { CatalogueEntry, ModelCatalogue } from '../../models/catalogue.ts';
import { findDefaultChatModel, NO_CHAT_MODEL } from '../../models/default-model.ts';
import { createCacheHints, type PromptCacheSetting } from '../../models/prompt-cache.ts';
import { describeRetired } from '../../models/retired.ts';
import type { AdmissionControl } from '../../operations/admission-control.ts';
import { REPLAYED_HEADER } from '../../operations/idempotency.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { GenerateRequest } from '../../ports/models.ts';
import { ApiError } from '../../shared/errors.ts';
import type { AskedCompletion } from './answer.ts';
import { type CompletionBody, createCompletion, ignoredNames } from './contract.ts';
import { EventEncoder } from './event-encoder.ts';
import { namedCap, spelledNames, toGenerateRequest } from './request.ts';
import { streamCompletion } from './run.ts';
import { type StoredRunServices, streamStored } from './stored/run.ts';
import { type StreamOnceServices, streamOnce } from './stream-once.ts';

/** The services of `createCompletionsHandler`; `Services` satisfies it. */
export interface CompletionsServices extends PipelineServices, StoredRunServices, StreamOnceServices {
  readonly catalogue: ModelCatalogue;
  readonly getCatalogue: GetCatalogue;
  /** By model id: the fallback models, in order. */
  readonly fallbacks: Readonly<Record<string, readonly string[]>>;
  readonly admissionControl: AdmissionControl;
  readonly completions: CompletionsSettings;
  readonly promptCache: PromptCacheSetting;
}

export interface CompletionsSettings {
  /** 422 by default; 403 for clients that expect the older status. */
  readonly insufficientCreditsStatus: 422 | 403;
  /** Whether a `meta` event with the correlation id opens the stream. Default true. */
  readonly metaEvent: boolean;
  /** Whether reasoning and tool calls are sent as they arrive, in events of type `reasoning` and `tool_use_delta`. Default true. */
  readonly deltas: boolean;
}

/** `POST /api/ai/v1/completions`: reserve, ask the model, stream, settle. */
export function createCompletionsHandler(services: CompletionsServices): Route {
  const getHints = createCacheHints(services.promptCache, 'user');
  return defineRoute(createCompletion, services, async ({ body }, call) => {
    services.admissionControl.admit();
    const found = services.getCatalogue(call.caller);
    const catalogue = found instanceof Promise ? await found : found;
    const entry = catalogue.find(body.model);
    if (entry?.info.type !== 'text') throw unknownModel(catalogue, body.model);
    const request = toGenerateRequest(body, entry, getHints(call.caller.userId));
    const asked: AskedCompletion = {
      operation: createCompletion.id,
      family: 'completions',
      entry,
      request,
      standIns: fallbackModels({ catalogue, fallbacks: services.fallbacks }, entry.info.id),
      isCapNamed: namedCap(body) !== undefined,
    };
    const { requestId } = call;
    const meta = services.completions.metaEvent
      ? { requestId, ...getFacts(body, request, entry) }
      : undefined;
    const { creditsPerUsd } = services.catalogue;
    const deltas = services.completions.deltas;
    const createEncoder = () => new EventEncoder({ requestId, meta, deltas, creditsPerUsd });
    const once = { call, path: createCompletion.path, body };
    const stream = body.store === true ? streamStored : streamCompletion;
    const { frames, isRepeated } = await streamOnce(services, once, asked, createEncoder, stream);
    const headers = isRepeated ? { ...STREAM_HEADERS, [REPLAYED_HEADER]: 'true' } : STREAM_HEADERS;
    return new Reply(200, headers, frames);
  });
}

/** Notes about the request, sent before the answer. */
interface CompletionFacts {
  /** The applied output cap, when the request exceeds it. */
  readonly maxTokens?: number;
  /** Unknown names, and options that the requested model has no place for. */
  readonly ignored?: readonly string[];
}

function getFacts(
  body: CompletionBody,
  request: GenerateRequest,
  { provider }: CatalogueEntry,
): CompletionFacts {
  const { maxTokens } = request;
  const ignored = [...ignoredNames(body), ...spelledNames(body, provider.ignores?.(request) ?? [])];
  return {
    ...(maxTokens < (namedCap(body) ?? 0) && { maxTokens }),
    ...(ignored.length > 0 && { ignored }),
  };
}

function unknownModel(catalogue: ModelCatalogue, id: string): ApiError {
  if (findDefaultChatModel(catalogue, false) === undefined) return new ApiError(400, NO_CHAT_MODEL);
  return new ApiError(400, describeRetired(catalogue, id) ?? `Model info not found for '${id}'`);
}
