import { defineRoute, type Route } from '@questline/core';
import {
  answerOverWire,
  prepareAnswer,
  toAskedCompletion,
  type WireAnswerServices,
} from '@questline/core/internal';
import { issue } from '../errors.ts';
import { createResponse, type ResponseBody } from './contract.ts';
import { ResponseEncoder, toEndState } from './encoder.ts';
import { toModelMessages } from './input.ts';
import { ItemWriter } from './items.ts';
import { findIgnored, refuseUnsupported } from './refusals.ts';
import { toGenerateRequest } from './request.ts';
import { readTools } from './tools.ts';
import { describeRequest, type WireResponse } from './wire.ts';

export type ResponsesServices = WireAnswerServices;

/** `POST /v1/responses`: through the same call of the model as `POST /api/ai/v1/completions`. Nothing is stored. */
export function createResponseHandler(services: ResponsesServices): Route {
  return defineRoute(createResponse, services, async ({ body }, call) => {
    services.admissionControl.admit();
    refuseUnsupported(body);
    const tools = readTools(body);
    const { catalogue, entry, media, promptCache } = await prepareAnswer(
      services,
      call,
      () => body.model,
      issue,
    );
    const messages = await toModelMessages(body, { media, provider: entry.provider.id });
    const request = toGenerateRequest(body, messages, tools, entry, promptCache);
    const now = (): number => Math.floor(services.clock.now() / 1000);
    const facts = { id: `resp_${call.id}`, createdAt: now() };
    const items = { id: call.id, tools, includesReasoning: includesReasoning(body) };
    const ending = { creditsPerUsd: services.catalogue.creditsPerUsd, now };
    return answerOverWire(services, call, {
      asked: toAskedCompletion(services, catalogue, {
        operation: createResponse.id,
        entry,
        request,
        isCapNamed: body.max_output_tokens != null,
      }),
      ignored: findIgnored(body, request, entry),
      path: createResponse.path,
      body,
      createEncoder: ({ info }) =>
        new ResponseEncoder({
          ...items,
          ...ending,
          request: describeRequest(body, { ...facts, model: info.id }),
        }),
      createCollector() {
        const writer = new ItemWriter({ ...items, sink: () => undefined });
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

/** A client that relies on stored responses does not ask for the reasoning, but needs it in the next round. */
function includesReasoning({ include, store }: ResponseBody): boolean {
  return store !== false || (include ?? []).includes('reasoning.encrypted_content');
}
