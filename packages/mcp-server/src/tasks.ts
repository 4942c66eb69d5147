import { INVALID_PARAMS, isObject, type JsonObject, RpcError } from './json-rpc.ts';
import type { MessageContext, ServerParts } from './methods.ts';
import { refused } from './refusals.ts';
import { OperationRefused } from './runner.ts';
import { EXECUTIONS } from './tools/ask-agent.ts';
import { IMAGES } from './tools/images.ts';
import type { McpTool, ToolCall } from './tools/tool.ts';
import { VIDEOS } from './tools/videos.ts';
import { readWork, type Work } from './tools/work.ts';
import { CAPABILITIES_KEY } from './versions.ts';

/** The extension of the protocol for long work. */
export const TASKS = 'io.modelcontextprotocol/tasks';

const MISSING_CAPABILITY = -32021;
/** How often clients ask for a task, in milliseconds. */
export const POLL_MS = 2000;
const TASK_ID = /^([a-z]+)_([0-9a-f]{24})$/;
const WORKS: readonly Work[] = [EXECUTIONS, IMAGES, VIDEOS];

/** Whether the client of a message follows tasks. */
export function followsTasks({ era, params: { _meta: meta } }: MessageContext): boolean {
  const capabilities = era === 'modern' && isObject(meta) ? meta[CAPABILITIES_KEY] : undefined;
  const extensions = isObject(capabilities) ? capabilities.extensions : undefined;
  return isObject(extensions) && extensions[TASKS] !== undefined;
}

/** Starts the work of a tool. @returns the task, or the result of work that has ended. */
export async function startTask(
  { work, start }: NonNullable<McpTool['task']>,
  args: JsonObject,
  context: ToolCall,
): Promise<JsonObject> {
  const id = await start(args, context);
  const state = await readWork(work, id, context);
  if (work.getStatus(state) !== 'working') return { ...(await work.toResult(state, context)) };
  return { resultType: 'task', ...describeTask(work, id, state) };
}

type TaskMethod = (work: Work, id: string, context: ToolCall) => Promise<JsonObject>;

const METHODS: Readonly<Record<string, TaskMethod>> = {
  'tasks/get': async (work, id, context) => {
    const state = await readWork(work, id, context);
    const task = describeTask(work, id, state);
    return task.status === 'completed' ? { ...task, result: await work.toResult(state, context) } : task;
  },
  // No task asks the client for input.
  'tasks/update': async (work, id, context) => {
    await readWork(work, id, context);
    return {};
  },
  'tasks/cancel': async (work, id, { runner }) => {
    await runner.run(work.cancel, { params: { id } });
    return {};
  },
};

export function isTaskMethod(method: string): boolean {
  return Object.hasOwn(METHODS, method);
}

/** Answers a message about a task. @throws RpcError */
export async function answerTaskMethod(
  parts: ServerParts,
  method: string,
  context: MessageContext,
): Promise<JsonObject> {
  const { runner, call } = context;
  if (!followsTasks(context)) {
    throw new RpcError(MISSING_CAPABILITY, `The client does not have the extension ${TASKS}`, {
      status: 400,
      data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
    });
  }
  const found = findWork(context.params.taskId);
  if (found === undefined) throw unknownTask();
  const { work, id } = found;
  const { services, maxWaitMs } = parts;
  try {
    const answer = await METHODS[method]?.(work, id, { services, maxWaitMs, runner, call });
    return { ...answer, resultType: 'complete' };
  } catch (error) {
    if (!(error instanceof OperationRefused)) throw error;
    throw error.status === 404 ? unknownTask() : refused(error);
  }
}

/** The work that the id of a task names. */
export function findWork(taskId: unknown): { readonly work: Work; readonly id: string } | undefined {
  const [, kind, id = ''] = typeof taskId === 'string' ? (TASK_ID.exec(taskId) ?? []) : [];
  const work = WORKS.find((one) => one.kind === kind);
  return work && { work, id };
}

function describeTask(work: Work, id: string, state: JsonObject): JsonObject {
  return {
    taskId: `${work.kind}_${id}`,
    status: work.getStatus(state),
    createdAt: state.created_at ?? state.createdAt,
    lastUpdatedAt: state.updated_at ?? state.updatedAt,
    // The work is kept.
    ttlMs: null,
    pollIntervalMs: POLL_MS,
  };
}

export function unknownTask(): RpcError {
  return new RpcError(INVALID_PARAMS, 'Task not found');
}
