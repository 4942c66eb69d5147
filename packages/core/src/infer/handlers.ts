import { invalid } from '../errors.ts';
import { type AskServices, askOnce } from '../models/ask-once.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { ModelMessage } from '../ports/models.ts';
import { defineRoute, type Route } from '../route.ts';
import { infer } from './contract.ts';

const MOST_TOKENS = 4096;

export interface InferServices extends PipelineServices, AskServices {}

/** `POST /api/infer` */
export function createInferHandler(services: InferServices): Route {
  return defineRoute(infer, services, async ({ body }, call) => {
    const models = await services.catalogueOf(call.caller.userId);
    const entry = models.find(body.model);
    if (entry?.info.type !== 'text') throw invalid('model', 'there is no chat model of this name');
    const messages = body.messages.map(
      ({ role, content }): ModelMessage => ({ role, content: [{ type: 'text', text: content }] }),
    );
    const result = await askOnce(services, call, infer.id, entry, { messages, maxTokens: MOST_TOKENS });
    return { result };
  });
}
