import { defineRoute, type Route } from '@questline/core';
import {
  answerOverWire,
  prepareAnswer,
  toAskedCompletion,
  type WireAnswerServices,
} from '@questline/core/internal';
import { issue } from '../errors.ts';
import { ChunkEncoder } from './chunks.ts';
import { createChatCompletion } from './contract.ts';
import { toModelMessages } from './messages.ts';
import { findIgnored, getCap, refuseUnsupported, toGenerateRequest } from './request.ts';
import { createWholeAnswer } from './whole.ts';

export type ChatServices = WireAnswerServices;

/** `POST /v1/chat/completions`: through the same call of the model as `POST /api/ai/v1/completions`. */
export function createChatCompletionHandler(services: ChatServices): Route {
  return defineRoute(createChatCompletion, services, async ({ body }, call) => {
    services.admissionControl.admit();
    refuseUnsupported(body);
    const { catalogue, entry, media, promptCache } = await prepareAnswer(
      services,
      call,
      () => body.model,
      issue,
    );
    const messages = await toModelMessages(body.messages, media);
    const request = toGenerateRequest(body, messages, entry, promptCache);
    const { creditsPerUsd } = services.catalogue;
    const about = { id: `chatcmpl-${call.id}`, created: Math.floor(services.clock.now() / 1000) };
    return answerOverWire(services, call, {
      asked: toAskedCompletion(services, catalogue, {
        operation: createChatCompletion.id,
        entry,
        request,
        isCapNamed: getCap(body) !== undefined,
      }),
      ignored: findIgnored(body, request, entry),
      path: createChatCompletion.path,
      body,
      createEncoder: ({ info }) =>
        new ChunkEncoder({
          ...about,
          model: info.id,
          includesUsage: body.stream_options?.include_usage === true,
          creditsPerUsd,
        }),
      createCollector() {
        const { add, finish } = createWholeAnswer();
        return {
          add,
          finish: (end) => finish({ ...about, model: end.entry.info.id }, end, creditsPerUsd),
        };
      },
    });
  });
}
