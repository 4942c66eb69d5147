import * as z from 'zod';
import type { ToolContext, ToolOffer, ToolResult } from './registry.ts';

/** The definition of a tool: its id, input schema and function. */
export interface ToolDefinition<S extends z.ZodObject = z.ZodObject> {
  /** The id for clients and models: `[a-z0-9_]`. */
  readonly id: string;
  /** Description for the model: when to use the tool, and what it returns. */
  readonly description: string;
  /** Schema of the arguments. Invalid arguments are returned to the model as an error. */
  readonly input: S;
  /**
   * `default`: with `enableTools`. `automatic`: in every turn with tools, unless suppressed. `requested`: only by its id.
   */
  readonly offered: ToolOffer['offered'];
  /** True: the tool has external side effects or costs, so it needs approval. Default false. */
  readonly gated?: boolean;
  /** Matches messages for which smart selection offers the tool. */
  readonly fits?: RegExp;
  /** Runs a call with validated arguments. If it throws, the model receives a generic error. */
  run(input: z.output<S>, context: ToolContext): ToolResult | Promise<ToolResult>;
}

/** A tool that a registry can offer and run. */
export interface Tool {
  readonly offer: ToolOffer;
  readonly fits: RegExp | undefined;
  /** @param input the model's input. Invalid input becomes an error result for the model. */
  run(input: unknown, context: ToolContext): Promise<ToolResult>;
}

/**
 * Defines a tool. `run` receives the arguments with the types of `input`. Offer it with `createToolbox`.
 * @example
 * const dice = defineTool({
 *   id: 'roll_dice',
 *   description: 'Rolls a dice. Use it when the user wants a random number.',
 *   input: z.object({ sides: z.int().min(2).max(100) }),
 *   offered: 'default',
 *   run: ({ sides }) => answered(String(1 + Math.floor(Math.random() * sides))),
 * });
 */
export function defineTool<S extends z.ZodObject>(definition: ToolDefinition<S>): Tool {
  return {
    offer: toOffer(definition),
    fits: definition.fits,
    async run(input, context) {
      const checked = definition.input.safeParse(input);
      if (!checked.success) return failed(getFaults(checked.error));
      return definition.run(checked.data, context);
    },
  };
}

/** Apart from `run`: V8 keeps what a getter refers to until the next major collection. */
function toOffer({ id, description, input, offered, gated = false }: Omit<ToolDefinition, 'run'>): ToolOffer {
  let parameters: ToolOffer['schema']['parameters'] | undefined;
  return {
    id,
    schema: {
      name: id,
      description,
      // Created lazily when a model is first offered the tool, to keep the start fast.
      get parameters() {
        parameters ??= toParameterList(input);
        return parameters;
      },
    },
    offered,
    ...(gated && { gated }),
  };
}

function toParameterList(schema: z.ZodObject): ToolOffer['schema']['parameters'] {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: 'input' });
  return parameters;
}

/** Creates a successful result. @param content the text for the model. @param payload the content for the client. */
export function answered(content: string, payload?: ToolResult['payload']): ToolResult {
  return { content, isError: false, ...(payload !== undefined && { payload }) };
}

/** Creates an error result. @param content the text for the model. */
export function failed(content: string): ToolResult {
  return { content, isError: true };
}

function getFaults(error: z.ZodError): string {
  const faults = error.issues.map(
    ({ path, message }) => `${path.map(String).join('.') || 'input'}: ${message}`,
  );
  return `Invalid arguments: ${faults.join('; ')}`;
}
