import { jsonReply } from '../../contract/reply.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { WebTools } from '../../ports/web.ts';
import { webCalls, webFailure } from './builtin/web.ts';
import { type ExecuteToolBody, executeTool } from './contract.ts';

export interface ToolsServices extends PipelineServices {
  readonly web: WebTools;
}

/** `POST /api/ai/v1/tools`: runs one tool for a signed-in user. */
export function createToolsHandler(services: ToolsServices): Route {
  const { clock } = services;
  const calls = webCalls(services.web);
  const run = (body: ExecuteToolBody, signal: AbortSignal, userId: string): Promise<unknown> => {
    switch (body.toolName) {
      case 'weather_info':
        return calls.weather(body.input, signal);
      case 'web_search':
        return calls.search(body.input, signal);
      case 'web_fetch':
        return calls.fetchPage(body.input, signal, userId);
    }
  };
  return defineRoute(executeTool, services, async ({ body }, { caller, signal, requestId }) => {
    const started = clock.now();
    const timed = () => ({ executionTimeMs: clock.now() - started, request_id: requestId });
    try {
      const result = await run(body, signal, caller.userId);
      return { success: true as const, result, content: JSON.stringify(result), ...timed() };
    } catch (error) {
      const { kind, message } = webFailure(error);
      services.onError({ operation: executeTool.id, requestId, error });
      return jsonReply(500, { success: false, error: message, errorType: kind, ...timed() });
    }
  });
}
