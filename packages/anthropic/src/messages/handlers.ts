import { defineRoute, type Route } from '@questline/core';
import {
  answerOverWire,
  cacheHints,
  createMediaLoader,
  estimateInput,
  findChatModel,
  type MediaServices,
  promptSize,
  toAskedCompletion,
  type WireAnswerServices,
} from '@questline/core/internal';
import { issue } from '../errors.ts';
import { createMessageCollector } from './collector.ts';
import { createMessage } from './contract.ts';
import { MessageEncoder } from './encoder.ts';
import { toModelMessages } from './messages.ts';
import { findIgnored, refuseUnsupported, toGenerateRequest } from './request.ts';

export interface MessagesServices extends WireAnswerServices, MediaServices {}

/** `POST /v1/messages`: through the same call of the model as `POST /api/ai/v1/completions`. */
export function createMessagesHandler(services: MessagesServices): Route {
  return defineRoute(createMessage, services, async ({ body }, call) => {
    services.admissionControl.admit();
    refuseUnsupported(body);
    const { userId } = call.caller;
    const catalogue = await services.getCatalogue(userId);
    const entry = findChatModel(catalogue, body.model);
    const media = createMediaLoader(services, entry, { userId, signal: call.signal, issue });
    const messages = await toModelMessages(body, media);
    const hints = cacheHints(services.promptCache, 'user', userId);
    const request = toGenerateRequest(body, messages, entry, hints);
    const { creditsPerUsd } = services.catalogue;
    const id = `msg_${call.id}`;
    return answerOverWire(services, call, {
      asked: toAskedCompletion(services, catalogue, {
        operation: createMessage.id,
        entry,
        request,
        isCapNamed: body.max_tokens != null,
      }),
      ignored: findIgnored(body, request, entry),
      path: createMessage.path,
      body,
      createEncoder: ({ info }) =>
        new MessageEncoder({
          id,
          requestId: call.requestId,
          model: info.id,
          creditsPerUsd,
          estimateInput: () => estimateInput(promptSize(request)),
        }),
      createCollector() {
        const { add, finish } = createMessageCollector();
        return { add, finish: (end) => finish({ id, model: end.entry.info.id }, end, creditsPerUsd) };
      },
    });
  });
}
