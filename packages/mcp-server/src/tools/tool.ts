import type { Operation, Route, Services } from '@questline/core';
import type { Call } from '@questline/core/internal';
import * as z from 'zod';
import type { JsonObject } from '../json-rpc.ts';
import { structured, type ToolResult, WrongArgument } from '../results.ts';
import type { Runner } from '../runner.ts';
import type { Work } from './work.ts';

/** What a tool needs for one call. */
export interface ToolCall {
  readonly services: Services;
  readonly runner: Runner;
  readonly call: Call;
  /** The longest that a call waits for work, in milliseconds. */
  readonly maxWaitMs: number;
}

export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The operations that it calls. A caller sees the tool who may call all of them. */
  readonly operations: readonly string[];
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonObject;
  readonly isReadOnly: boolean;
  call(args: JsonObject, context: ToolCall): Promise<ToolResult>;
  /** The work of a tool that starts some, for clients that follow it as a task. */
  readonly task?: {
    readonly work: Work;
    /** Starts the work, and waits for it if the arguments ask for that. @returns its id. */
    start(args: JsonObject, context: ToolCall): Promise<string>;
  };
}

/** The routes of the API, by the id of their operation. */
export type Routes = ReadonlyMap<string, Route>;

/** How a tool presents an operation. */
export interface OperationTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The argument for the `id` of the path. */
  readonly idName?: string;
}

/** A tool for one operation: its contract gives the arguments. */
export function operationTool(operation: Operation, { idName = 'id', ...shown }: OperationTool): McpTool {
  const { params, query, body } = operation.input;
  const inPath = rename(getFields(params), { id: idName });
  const inQuery = getFields(query);
  const inBody = body instanceof z.ZodObject ? getFields(body) : NO_FIELDS;
  return {
    ...shown,
    operations: [operation.id],
    inputSchema: objectSchema(inPath, inQuery, inBody),
    isReadOnly: operation.method === 'GET' || operation.id.startsWith('search'),
    async call(args, { runner }) {
      checkNames(args, [inPath, inQuery, inBody]);
      const id = args[idName];
      const answer = await runner.run(operation.id, {
        ...(params !== undefined && { params: { id: requireText(id, idName) } }),
        query: toQuery(pick(args, inQuery)),
        ...(body !== undefined && { body: pick(args, inBody) }),
      });
      return structured(answer);
    },
  };
}

/** Fields of a JSON Schema. */
export interface Fields {
  readonly properties: Readonly<Record<string, JsonObject>>;
  readonly required: readonly string[];
}

const NO_FIELDS: Fields = { properties: {}, required: [] };

/** @param names only these fields. Default: all. */
export function getFields(schema: z.ZodObject | undefined, names?: readonly string[]): Fields {
  if (schema === undefined) return NO_FIELDS;
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const kept = Object.entries(properties).filter(([name]) => names?.includes(name) ?? true);
  return {
    properties: Object.fromEntries(kept.map(([name, field]) => [name, withoutPattern(field as JsonObject)])),
    required: required.filter((name) => names?.includes(name) ?? true),
  };
}

/** Numbers of a query are text with a pattern. */
function withoutPattern({ pattern, ...field }: JsonObject): JsonObject {
  return field.type === 'integer' || pattern === undefined ? field : { ...field, pattern };
}

function rename({ properties, required }: Fields, names: Readonly<Record<string, string>>): Fields {
  const renamed = (name: string): string => names[name] ?? name;
  return {
    properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [renamed(name), field])),
    required: required.map(renamed),
  };
}

export function objectSchema(...parts: readonly Fields[]): JsonObject {
  return {
    type: 'object',
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required }) => required),
    additionalProperties: false,
  };
}

/** @throws WrongArgument for an argument without a field. */
export function checkNames(args: JsonObject, parts: readonly Fields[]): void {
  for (const name of Object.keys(args)) {
    if (!parts.some(({ properties }) => Object.hasOwn(properties, name))) {
      throw new WrongArgument(`${name}: unknown argument`);
    }
  }
}

export function pick(args: JsonObject, { properties }: Fields): JsonObject {
  return Object.fromEntries(Object.entries(args).filter(([name]) => Object.hasOwn(properties, name)));
}

/** @throws WrongArgument */
export function requireText(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new WrongArgument(`${name}: expected text`);
  return value;
}

function toQuery(args: JsonObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      if (!['string', 'number', 'boolean'].includes(typeof value)) {
        throw new WrongArgument(`${name}: expected text or a number`);
      }
      return [name, String(value).toWellFormed()];
    }),
  );
}
