import type { ApiRequest, ApiResponse, Mountable } from '../contract/message.ts';
import type { Auth, Operation, ResponseDescription } from '../contract/operation.ts';
import type { Handler } from '../contract/reply.ts';
import { createNarrowing } from '../http/present-fields.ts';
import { type BodyVariant, type PipelineServices, runRoute, type Steps } from './pipeline.ts';

/** An operation with its handler. Mount it alone at any path, or as part of an API. */
export interface Route extends Mountable {
  readonly operation: Operation;
  /** Runs the operation for a request that matches it. */
  run(request: ApiRequest, params: Readonly<Record<string, string>>): Promise<ApiResponse>;
}

/**
 * Connects an operation with its handler. Mount the route alone, or pass it to `createApi` in `routes`.
 * @param services `createServices` returns them.
 * @param variant a body of another form that the same path accepts.
 * @example
 * const greeting = defineRoute(greet, services, async ({ params, body }, { caller }) => ({
 *   text: `Hello ${params.name} `.repeat(body.times) + caller.userId,
 * }));
 */
export function defineRoute<
  Input extends Operation['input'],
  Output extends Readonly<Record<number, ResponseDescription>>,
  Who extends Auth,
>(
  operation: Operation<Input, Output, Who>,
  services: PipelineServices,
  handler: Handler<Operation<Input, Output, Who>>,
  variant?: BodyVariant,
): Route {
  // The pipeline passes exactly the output of the operation's schemas; TypeScript cannot verify this.
  const untyped = handler as unknown as Handler<Operation>;
  const [usual = '200'] = Object.keys(operation.output);
  const { body } = operation.input;
  const narrowBody = body && createNarrowing(body);
  const steps: Steps = { operation, services, handler: untyped, variant, narrowBody, status: Number(usual) };
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
