import { header } from '@questline/core/internal';
import { INVALID_PARAMS, isObject, type JsonObject, METHOD_NOT_FOUND, RpcError } from './json-rpc.ts';
import type { MessageContext, ServerParts } from './methods.ts';
import { orRefused, refused } from './refusals.ts';
import { WrongArgument } from './results.ts';
import { OperationRefused } from './runner.ts';
import { createTaskRecords, readTtl, type TaskRecord } from './task-records.ts';
import { findWork, POLL_MS, unknownTask } from './tasks.ts';
import type { McpTool, ToolCall } from './tools/tool.ts';
import { readWait } from './tools/wait.ts';
import { readWork, type Work } from './tools/work.ts';
import { WITH_TASKS } from './versions.ts';

/** Tasks of revision 2025-11-25, which later revisions replace by an extension. */
export const TASKS_CAPABILITY: JsonObject = { list: {}, cancel: {}, requests: { tools: { call: {} } } };

const RELATED_TASK = 'io.modelcontextprotocol/related-task';
const STILL_WORKING = -32000;

/** Whether a message belongs to the revision. Its client opts in with the parameter `task` of a call. */
export function hasTasks({ call }: Pick<MessageContext, 'call'>): boolean {
  return header(call.request.headers, 'mcp-protocol-version') === WITH_TASKS;
}

/** Starts the work of a tool. @returns the task. @throws RpcError for a refusal: there is no task then. */
export async function createTask(
  { name, task }: McpTool,
  {
    args,
    asked,
    count,
  }: {
    args: JsonObject;
    /** The parameter `task`. */
    asked: JsonObject;
    count: () => Promise<unknown>;
  },
  own: ToolCall,
): Promise<JsonObject> {
  if (task === undefined) throw new RpcError(METHOD_NOT_FOUND, `The tool ${name} has no tasks`);
  const ttl = readTtl(asked);
  try {
    readWait(args, own);
    // The task is the answer at once; its client waits with `tasks/result`.
    const unwaited = { ...args, ...(args.wait_seconds !== undefined && { wait_seconds: 0 }) };
    const id = await task.start(unwaited, own);
    const record = await createTaskRecords(own).add(`${task.work.kind}_${id}`, ttl);
    return { task: describe(record, 'working', record.createdAt) };
  } catch (error) {
    if (error instanceof OperationRefused) throw refused(error);
    if (!(error instanceof WrongArgument)) throw error;
    await count();
    throw new RpcError(INVALID_PARAMS, error.message);
  }
}

/** A task of the caller, with the state of its work. */
interface Found {
  readonly record: TaskRecord;
  readonly work: Work;
  readonly workId: string;
  readonly state: JsonObject;
}

type Method = (found: Found, context: ToolCall) => Promise<JsonObject>;

const METHODS: Readonly<Record<string, Method>> = {
  'tasks/get': async (found) => show(found),

  async 'tasks/result'({ record, work, workId, state }, context) {
    const ended = work.getStatus(state) === 'working' ? await waitForEnd(work, workId, context) : state;
    const result = await work.toResult(ended, context);
    return { ...result, _meta: { [RELATED_TASK]: { taskId: record.id } } };
  },

  async 'tasks/cancel'(found, context) {
    const { work, workId, state } = found;
    if (work.getStatus(state) !== 'working') throw ended();
    const after = await context.runner.run(work.cancel, { params: { id: workId } });
    // It ended before the cancellation.
    if (work.getStatus(after) !== 'cancelled') throw ended();
    return show({ ...found, state: after });
  },
};

export function isLegacyTaskMethod(method: string): boolean {
  return method === 'tasks/list' || Object.hasOwn(METHODS, method);
}

/** Answers a message about tasks. @throws RpcError */
export async function answerLegacyTaskMethod(
  { services, maxWaitMs }: ServerParts,
  method: string,
  { params, runner, call, count }: MessageContext,
): Promise<JsonObject> {
  const context = { services, maxWaitMs, runner, call };
  if (method === 'tasks/list') {
    await count();
    return listTasks(params, context);
  }
  const { taskId } = params;
  const isId = typeof taskId === 'string' && findWork(taskId) !== undefined;
  const record = isId ? await createTaskRecords(context).get(taskId) : undefined;
  const found = record && (await load(record, context));
  if (found === undefined) throw unknownTask();
  const answer = METHODS[method];
  return orRefused(async () => ({ ...(await answer?.(found, context)) }), unknownTask);
}

async function listTasks({ cursor }: JsonObject, context: ToolCall): Promise<JsonObject> {
  const { records, nextCursor } = await createTaskRecords(context).list(cursor);
  const tasks: JsonObject[] = [];
  for (const record of records) {
    const found = await load(record, context);
    if (found !== undefined) tasks.push(show(found));
  }
  return { tasks, ...(nextCursor !== undefined && { nextCursor }) };
}

/** @returns undefined if the work was deleted or the caller has lost the access. @throws RpcError for other refusals. */
async function load(record: TaskRecord, context: ToolCall): Promise<Found | undefined> {
  const { work, id: workId } = findWork(record.id) ?? {};
  if (work === undefined || workId === undefined) return undefined;
  try {
    return { record, work, workId, state: await readWork(work, workId, context) };
  } catch (error) {
    if (!(error instanceof OperationRefused)) throw error;
    if (error.status === 404) return undefined;
    throw refused(error);
  }
}

/** @throws RpcError if the work has not ended in the longest time of a call; the client asks again. */
async function waitForEnd(work: Work, id: string, context: ToolCall): Promise<JsonObject> {
  await work.wait(id, context.maxWaitMs, context);
  const state = await readWork(work, id, context);
  if (work.getStatus(state) !== 'working') return state;
  throw new RpcError(STILL_WORKING, 'The task is still working: ask again');
}

function show({ record, work, state }: Found): JsonObject {
  const status = work.getStatus(state);
  const hasFailed = status === 'completed' && work.hasFailed(state);
  return describe(record, hasFailed ? 'failed' : status, state.updated_at ?? state.updatedAt);
}

function describe({ id, createdAt, expiresAt }: TaskRecord, status: string, updatedAt: unknown): JsonObject {
  return {
    taskId: id,
    status,
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: typeof updatedAt === 'string' ? updatedAt : new Date(createdAt).toISOString(),
    ttl: expiresAt - createdAt,
    pollInterval: POLL_MS,
  };
}

function ended(): RpcError {
  return new RpcError(INVALID_PARAMS, 'The task has ended');
}

/** The parameter `task` of a call; undefined without one. @throws RpcError for another value than an object. */
export function readTaskParameter({ task }: JsonObject): JsonObject | undefined {
  if (task === undefined) return undefined;
  if (!isObject(task)) throw new RpcError(INVALID_PARAMS, 'task: expected an object');
  return task;
}
