import { type AskServices, generateOnce } from '../../models/ask-once.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { ModelMessage } from '../../ports/models.ts';
import { invalid } from '../../shared/errors.ts';
import { infer } from './infer-contract.ts';

export interface InferServices extends PipelineServices, AskServices {}

/** `POST /api/infer` */
export function createInferHandler(services: InferServices): Route {
  return defineRoute(infer, services, async ({ body }, call) => {
    const models = await services.getCatalogue(call.caller);
    const entry = models.find(body.model);
    if (entry?.info.type !== 'text') throw invalid('model', 'unknown chat model');
    const messages = body.messages.map(
      ({ role, content }): ModelMessage => ({ role, content: [{ type: 'text', text: content }] }),
    );
    const result = await generateOnce(services, call, infer.id, entry, { messages });
    return { result };
  });
}
