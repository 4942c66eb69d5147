import { defineRoute, jsonReply, Reply, type Route } from '@questline/core';
import {
  type AskedCompletion,
  type Call,
  type CompletionsServices,
  cacheHints,
  describeRetired,
  fallbackModels,
  type Idempotency,
  type ModelCatalogue,
  readCompletion,
  STREAM_HEADERS,
  streamCompletion,
} from '@questline/core/internal';
import { unknownModel } from '../errors.ts';
import { CREDITS_HEADER } from '../usage.ts';
import { ChunkEncoder } from './chunks.ts';
import { type ChatBody, createChatCompletion } from './contract.ts';
import { createMediaLoader, type MediaServices } from './media.ts';
import { toModelMessages } from './messages.ts';
import { findIgnored, getCap, refuseUnsupported, toGenerateRequest } from './request.ts';
import { createWholeAnswer } from './whole.ts';

export interface ChatServices extends CompletionsServices, MediaServices {
  readonly idempotency: Idempotency;
}

/** The header with the fields of the request that have no effect. */
const IGNORED_HEADER = 'X-Ignored-Fields';

const REPLAYED_HEADER = 'Idempotent-Replayed';

/** `POST /v1/chat/completions`: through the same call of the model as `POST /api/ai/v1/completions`. */
export function createChatCompletionHandler(services: ChatServices): Route {
  return defineRoute(createChatCompletion, services, async ({ body }, call) => {
    services.admissionControl.admit();
    refuseUnsupported(body);
    const catalogue = await services.getCatalogue(call.caller.userId);
    const { asked, ignored } = await toAsked(services, catalogue, body, call);
    const headers: Record<string, string> =
      ignored.length > 0 ? { [IGNORED_HEADER]: ignored.join(', ') } : {};
    const { creditsPerUsd } = services.catalogue;
    const about = { id: `chatcmpl-${call.id}`, created: Math.floor(services.clock.now() / 1000) };
    if (body.stream === true) {
      const includesUsage = body.stream_options?.include_usage === true;
      const frames = await streamCompletion(services, call, asked, ({ entry }) => {
        return new ChunkEncoder({ ...about, model: entry.info.id, includesUsage, creditsPerUsd });
      });
      return new Reply(200, { ...STREAM_HEADERS, ...headers }, frames);
    }
    const request = { call, path: createChatCompletion.path, body };
    const { answer: completion, isRepeated } = await services.idempotency.once(request, async () => {
      const answer = createWholeAnswer();
      const end = await readCompletion(services, call, asked, answer.add);
      return answer.finish({ ...about, model: end.entry.info.id }, end, creditsPerUsd);
    });
    if (isRepeated) headers[REPLAYED_HEADER] = 'true';
    if (completion.credits !== undefined) headers[CREDITS_HEADER] = String(completion.credits.used);
    return jsonReply(200, completion, headers);
  });
}

/** @throws ApiError 404 for an unknown model; 400 for messages that no provider accepts. */
async function toAsked(
  services: ChatServices,
  catalogue: ModelCatalogue,
  body: ChatBody,
  call: Call,
): Promise<{ asked: AskedCompletion; ignored: readonly string[] }> {
  const entry = catalogue.find(body.model);
  if (entry === undefined) throw unknownModel(body.model, describeRetired(catalogue, body.model));
  if (entry.info.type !== 'text') throw unknownModel(body.model, `'${entry.info.id}' is not a chat model`);
  const { userId } = call.caller;
  const media = createMediaLoader(services, entry, { userId, signal: call.signal });
  const messages = await toModelMessages(body.messages, media);
  const hints = cacheHints(services.promptCache, 'user', userId);
  const request = toGenerateRequest(body, messages, entry, hints);
  return {
    ignored: findIgnored(body, request, entry),
    asked: {
      operation: createChatCompletion.id,
      family: 'public',
      entry,
      request,
      standIns: fallbackModels({ catalogue, fallbacks: services.fallbacks }, entry.info.id),
      isCapNamed: getCap(body) !== undefined,
    },
  };
}
