import * as z from 'zod';
import type { ToolContext, ToolOffer, ToolResult } from './registry.ts';

/** A tool written down: what it is called, what it takes, what it does. */
export interface ToolDefinition<S extends z.ZodObject = z.ZodObject> {
  /** What callers and models name it by: `[a-z0-9_]`. */
  readonly id: string;
  /** Told to the model: when to use it, and what comes back. */
  readonly description: string;
  readonly input: S;
  readonly offered: ToolOffer['offered'];
  /** It changes something outside this service or spends there. Default false. */
  readonly gated?: boolean;
  /** Messages that `smart` selection offers it for. */
  readonly fits?: RegExp;
  run(input: z.output<S>, context: ToolContext): ToolResult | Promise<ToolResult>;
}

/** A tool ready to be offered and run. */
export interface Tool {
  readonly offer: ToolOffer;
  readonly fits: RegExp | undefined;
  /** @param input as the model wrote it. A fault in it is a result the model can learn from. */
  run(input: unknown, context: ToolContext): Promise<ToolResult>;
}

export function defineTool<S extends z.ZodObject>(definition: ToolDefinition<S>): Tool {
  const { id, description, input: schema, offered, gated = false, fits } = definition;
  let parameters: ToolOffer['schema']['parameters'] | undefined;
  return {
    offer: {
      id,
      schema: {
        name: id,
        description,
        // Written down when a model is first offered it: a start has better things to do.
        get parameters() {
          parameters ??= parametersOf(schema);
          return parameters;
        },
      },
      offered,
      ...(gated && { gated }),
    },
    fits,
    async run(input, context) {
      const checked = schema.safeParse(input);
      if (!checked.success) return failed(faultsOf(checked.error));
      return definition.run(checked.data, context);
    },
  };
}

function parametersOf(schema: z.ZodObject): ToolOffer['schema']['parameters'] {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: 'input' });
  return parameters;
}

export function answered(content: string, payload?: ToolResult['payload']): ToolResult {
  return { content, isError: false, ...(payload !== undefined && { payload }) };
}

export function failed(content: string): ToolResult {
  return { content, isError: true };
}

function faultsOf(error: z.ZodError): string {
  const faults = error.issues.map(
    ({ path, message }) => `${path.map(String).join('.') || 'input'}: ${message}`,
  );
  return `The arguments do not fit: ${faults.join('; ')}`;
}
