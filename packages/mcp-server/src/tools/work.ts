import type { JsonObject } from '../json-rpc.ts';
import type { ToolResult } from '../results.ts';
import {
  checkNames,
  type Fields,
  type McpTool,
  objectSchema,
  pick,
  requireText,
  type ToolCall,
} from './tool.ts';
import { readWait, WAIT } from './wait.ts';

/** Long work, which goes on without the client. */
export interface Work {
  /** The first part of the ids of its tasks. */
  readonly kind: string;
  /** The operation that returns its state. */
  readonly read: string;
  /** The operation that cancels it. Returns work that has ended unchanged. */
  readonly cancel: string;
  getStatus(state: JsonObject): 'working' | 'completed' | 'cancelled';
  /** Whether the result of completed work is an error. Reads nothing else. */
  hasFailed(state: JsonObject): boolean;
  /** Waits for the end. Says nothing about the work. */
  wait(id: string, timeoutMs: number, context: ToolCall): Promise<void>;
  toResult(state: JsonObject, context: ToolCall): ToolResult | Promise<ToolResult>;
}

interface Shown extends Pick<McpTool, 'name' | 'title' | 'description' | 'operations'> {
  readonly work: Work;
}

/** A tool that starts work. @param waits whether it waits for the end. */
export function startTool({
  fields,
  start,
  work,
  waits = true,
  ...shown
}: Shown & {
  readonly fields: Fields;
  readonly waits?: boolean;
  /** @returns the id of the work. */
  start(args: JsonObject, context: ToolCall): Promise<string>;
}): McpTool {
  const parts = waits ? [fields, WAIT] : [fields];
  const begin = (args: JsonObject, context: ToolCall): Promise<string> => start(pick(args, fields), context);
  return {
    ...shown,
    inputSchema: objectSchema(...parts),
    isReadOnly: false,
    task: {
      work,
      async start(args, context) {
        checkNames(args, parts);
        const timeoutMs = args.wait_seconds === undefined ? 0 : readWait(args, context);
        const id = await begin(args, context);
        if (waits) await work.wait(id, timeoutMs, context);
        return id;
      },
    },
    async call(args, context) {
      checkNames(args, parts);
      const timeoutMs = readWait(args, context);
      const id = await begin(args, context);
      if (waits) await work.wait(id, timeoutMs, context);
      return work.toResult(await readWork(work, id, context), context);
    },
  };
}

/** A tool that reads work. @param idName the argument with its id. */
export function readTool({
  idName,
  idDescription,
  work,
  waits = true,
  ...shown
}: Shown & { readonly idName: string; readonly idDescription: string; readonly waits?: boolean }): McpTool {
  const fields: Fields = {
    properties: { [idName]: { type: 'string', description: idDescription } },
    required: [idName],
  };
  const parts = waits ? [fields, WAIT] : [fields];
  return {
    ...shown,
    inputSchema: objectSchema(...parts),
    isReadOnly: true,
    async call(args, context) {
      checkNames(args, parts);
      const timeoutMs = readWait(args, context);
      const id = requireText(args[idName], idName);
      const state = await readWork(work, id, context);
      if (!waits || timeoutMs === 0 || work.getStatus(state) !== 'working')
        return work.toResult(state, context);
      await work.wait(id, timeoutMs, context);
      return work.toResult(await readWork(work, id, context), context);
    },
  };
}

export function readWork(
  { read }: Work,
  id: string,
  { runner }: Pick<ToolCall, 'runner'>,
): Promise<JsonObject> {
  return runner.run(read, { params: { id } });
}
