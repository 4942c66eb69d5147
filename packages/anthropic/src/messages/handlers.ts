import { defineRoute, type Route } from '@questline/core';
import {
  answerOverWire,
  estimateInput,
  type ModelCatalogue,
  prepareAnswer,
  promptSize,
  toAskedCompletion,
  type WireAnswerServices,
} from '@questline/core/internal';
import { issue } from '../errors.ts';
import { createMessageCollector } from './collector.ts';
import { createMessage } from './contract.ts';
import { MessageEncoder } from './encoder.ts';
import { toModelMessages } from './messages.ts';
import { toCatalogueId } from './model-ids.ts';
import { findIgnored, refuseUnsupported, toGenerateRequest } from './request.ts';

export type MessagesServices = WireAnswerServices;

/** `POST /v1/messages`: through the same call of the model as `POST /api/ai/v1/completions`. */
export function createMessagesHandler(services: MessagesServices): Route {
  return defineRoute(createMessage, services, async ({ body }, call) => {
    services.admissionControl.admit();
    refuseUnsupported(body);
    const getId = (models: ModelCatalogue): string => toCatalogueId(models, body.model);
    const { catalogue, entry, media, promptCache } = await prepareAnswer(services, call, getId, issue);
    const messages = await toModelMessages(body, media);
    const request = toGenerateRequest(body, messages, entry, promptCache);
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
