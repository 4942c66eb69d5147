import { defineRoute, type Route } from '@questline/core';
import {
  answerOverWire,
  createResponses,
  prepareAnswer,
  type ResponsesServices as StoredResponsesServices,
  toAskedCompletion,
  type WireAnswerServices,
} from '@questline/core/internal';
import { issue } from '../errors.ts';
import { createResponse, type ResponseBody } from './contract.ts';
import { ResponseEncoder, toEndState } from './encoder.ts';
import { loadHistory } from './history.ts';
import { toInputItemId, toResponseId } from './ids.ts';
import { toModelMessages } from './input.ts';
import { ItemWriter } from './items.ts';
import { findIgnored, refuseUnsupported } from './refusals.ts';
import { toGenerateRequest } from './request.ts';
import { createStoredAnswer } from './stored-answer.ts';
import type { StoredWire } from './stored-wire.ts';
import { readTools } from './tools.ts';
import { describeRequest, type WireResponse } from './wire.ts';

export interface ResponsesServices extends WireAnswerServices, StoredResponsesServices {
  // Both have these, with the same types.
  readonly store: StoredResponsesServices['store'];
  readonly clock: StoredResponsesServices['clock'];
  readonly onError: WireAnswerServices['onError'];
  readonly admissionControl: WireAnswerServices['admissionControl'];
  readonly idempotency: WireAnswerServices['idempotency'];
  readonly ids: WireAnswerServices['ids'];
}

/**
 * `POST /v1/responses`. Stored: a quest makes it. Otherwise through the same call of the model as
 * `POST /api/ai/v1/completions`, and nothing is stored.
 */
export function createResponseHandler(services: ResponsesServices): Route {
  const responses = createResponses(services);
  const answerStored = createStoredAnswer(services, responses);
  return defineRoute(createResponse, services, async ({ body }, call) => {
    services.admissionControl.admit();
    refuseUnsupported(body);
    const history = await loadHistory(responses, call.caller.userId, body);
    const items = [...history.before, ...history.own.map(({ item }) => item)];
    const earlier = history.before.length;
    const tools = readTools(body, items, earlier);
    const { catalogue, entry, media, promptCache } = await prepareAnswer(
      services,
      call,
      () => body.model,
      issue,
    );
    const messages = await toModelMessages(body.instructions, items, {
      media,
      provider: entry.provider.id,
      earlier,
    });
    const request = toGenerateRequest(body, messages, tools, entry, promptCache);
    const now = (): number => Math.floor(services.clock.now() / 1000);
    const isCapNamed = body.max_output_tokens != null;
    const ignored = findIgnored(body, request, entry);
    if (body.store !== false) {
      return answerStored(call, body, ignored, (id) => {
        const facts = { id: toResponseId(id), createdAt: now(), model: entry.info.id };
        const wire: StoredWire = {
          request: describeRequest(body, facts),
          tools: tools.entries,
          size: history.size,
        };
        const input = history.own.map(({ id: known, item }, index) => ({
          id: known ?? toInputItemId(item, id, index),
          item,
        }));
        return {
          request,
          model: entry.info.id,
          isCapNamed,
          wire: JSON.stringify(wire),
          input: JSON.stringify(input),
          earlier: history.earlier,
        };
      });
    }
    const facts = { id: toResponseId(call.id), createdAt: now() };
    const written = { id: call.id, tools, includesReasoning: includesReasoning(body) };
    const ending = { creditsPerUsd: services.catalogue.creditsPerUsd, now };
    return answerOverWire(services, call, {
      asked: toAskedCompletion(services, catalogue, {
        operation: createResponse.id,
        entry,
        request,
        isCapNamed,
      }),
      ignored,
      path: createResponse.path,
      body,
      createEncoder: ({ info }) =>
        new ResponseEncoder({
          ...written,
          ...ending,
          request: describeRequest(body, { ...facts, model: info.id }),
        }),
      createCollector() {
        const writer = new ItemWriter({ ...written, sink: () => undefined });
        return {
          add: (part) => writer.add(part),
          finish: (end): WireResponse => ({
            ...describeRequest(body, { ...facts, model: end.entry.info.id }),
            ...toEndState(end, writer, ending),
          }),
        };
      },
    });
  });
}

/** The reasoning of a response that is not stored is sent where the client asks for it. */
function includesReasoning({ include }: ResponseBody): boolean {
  return (include ?? []).includes('reasoning.encrypted_content');
}
