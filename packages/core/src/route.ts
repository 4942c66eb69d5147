import type { ApiRequest, ApiResponse, Mountable } from './http/message.ts';
import type { Auth, Operation, ResponseDescription } from './operation.ts';
import { type PipelineServices, runRoute, type Steps } from './pipeline.ts';
import type { Handler } from './reply.ts';

/** An operation with its behaviour. It can be mounted alone, at any path of the host's, or as part of an api. */
export interface Route extends Mountable {
  readonly operation: Operation;
  /** Runs the operation for a request already found to be its own. */
  run(request: ApiRequest, params: Readonly<Record<string, string>>): Promise<ApiResponse>;
}

export function defineRoute<
  Input extends Operation['input'],
  Output extends Readonly<Record<number, ResponseDescription>>,
  Who extends Auth,
>(
  operation: Operation<Input, Output, Who>,
  services: PipelineServices,
  handler: Handler<Operation<Input, Output, Who>>,
): Route {
  // The pipeline hands over exactly what the operation's schemas produced; types cannot follow it there.
  const untyped = handler as unknown as Handler<Operation>;
  const [usual = '200'] = Object.keys(operation.output);
  const steps: Steps = { operation, services, handler: untyped, status: Number(usual) };
  const observe = services.observer?.request;
  const run: Route['run'] =
    observe === undefined
      ? (request, params) => runRoute(steps, request, params)
      : (request, params) =>
          observe({ operation: steps.operation, request }, () => runRoute(steps, request, params));
  return {
    operation,
    run,
    handle: (request) => run(request, request.params ?? {}),
  };
}
