import type { Services } from '@questline/core';
import { type Call, checkScopes } from '@questline/core/internal';
import { isStorageUnavailable } from '@questline/core/ports';
import {
  checkOnePage,
  INVALID_PARAMS,
  isObject,
  type JsonObject,
  METHOD_NOT_FOUND,
  RpcError,
} from './json-rpc.ts';
import {
  answerLegacyTaskMethod,
  createTask,
  hasTasks,
  isLegacyTaskMethod,
  readTaskParameter,
  TASKS_CAPABILITY,
} from './legacy-tasks.ts';
import { listResources, RESOURCE_TEMPLATES, readResource } from './resources.ts';
import { toFailure, WrongArgument } from './results.ts';
import type { Runner } from './runner.ts';
import { getSkillEntry, listSkillEntries, SKILL_TEMPLATE, SKILLS } from './skills/extension.ts';
import { getPrompt, listPrompts } from './skills/prompts.ts';
import { offersSkills } from './skills/read.ts';
import { answerTaskMethod, followsTasks, isTaskMethod, startTask, TASKS } from './tasks.ts';
import type { McpTool, Routes } from './tools/tool.ts';
import { type Era, negotiate, VERSIONS, WITH_TASKS } from './versions.ts';

const INSTRUCTIONS =
  'Tools over a Questline workspace. They act as the user of the credential and spend its credits: `ask_agent`, ' +
  '`search_data_lake` and `generate_image` cost credits.';

/** What answers have in common. */
export interface ServerParts {
  readonly services: Services;
  readonly routes: Routes;
  readonly tools: readonly McpTool[];
  readonly info: JsonObject;
  readonly maxWaitMs: number;
}

/** One message of a caller. */
export interface MessageContext {
  readonly call: Call;
  readonly runner: Runner;
  readonly era: Era;
  readonly params: JsonObject;
  /** Counts the message against the limits of the caller, where no operation does. */
  readonly count: () => Promise<unknown>;
}

type Method = (parts: ServerParts, context: MessageContext) => Promise<JsonObject>;

const CACHEABLE: Readonly<Record<string, Method>> = {
  'tools/list': async (parts, context) => {
    const { params, call, count } = context;
    await count();
    checkOnePage(params);
    const tools = parts.tools.filter((tool) => mayCall(tool, parts.routes, call));
    return {
      tools: tools.map((tool) => ({ ...describe(tool), ...(hasTasks(context) && describeTasks(tool)) })),
    };
  },
  'resources/list': (_parts, { params, runner, era }) => listResources(params, runner, era),
  'resources/templates/list': async ({ routes }, { count }) => {
    await count();
    return { resourceTemplates: [...RESOURCE_TEMPLATES, ...(offersSkills(routes) ? [SKILL_TEMPLATE] : [])] };
  },
  'resources/read': (_parts, { params, runner, era }) => readResource(params, runner, era),
};

const PROMPTS: Readonly<Record<string, Method>> = {
  'prompts/list': (_parts, { params, runner }) => listPrompts(params, runner),
  'prompts/get': (_parts, { params, runner }) => getPrompt(params, runner),
};

const SKILL_METHODS: Readonly<Record<string, Method>> = {
  'skills/list': (_parts, { params, runner }) => listSkillEntries(params, runner),
  'skills/get': (_parts, { params, runner }) => getSkillEntry(params, runner),
};

const LEGACY: Readonly<Record<string, Method>> = {
  initialize: async ({ info, routes, tools }, { params, count }) => {
    await count();
    const protocolVersion = negotiate(params);
    const canRunTasks = protocolVersion === WITH_TASKS && tools.some(({ task }) => task !== undefined);
    return {
      protocolVersion,
      capabilities: { ...getCapabilities(routes), ...(canRunTasks && { tasks: TASKS_CAPABILITY }) },
      serverInfo: info,
      instructions: INSTRUCTIONS,
    };
  },
  ping: async (_parts, { count }) => {
    await count();
    return {};
  },
};

const MODERN: Readonly<Record<string, Method>> = {
  'server/discover': async ({ info, routes }, { count }) => {
    await count();
    return {
      supportedVersions: VERSIONS,
      capabilities: {
        ...getCapabilities(routes),
        extensions: { [TASKS]: {}, ...(offersSkills(routes) && { [SKILLS]: {} }) },
      },
      instructions: INSTRUCTIONS,
      _meta: { 'io.modelcontextprotocol/serverInfo': info },
    };
  },
};

function getCapabilities(routes: Routes): JsonObject {
  return { tools: {}, resources: {}, ...(offersSkills(routes) && { prompts: {} }) };
}

/** Answers a request of the protocol. @throws RpcError */
export async function answerMethod(
  parts: ServerParts,
  method: string,
  context: MessageContext,
): Promise<JsonObject> {
  const isModern = context.era === 'modern';
  if (method === 'tools/call') {
    const result = await callTool(parts, context);
    return { ...(isModern && { resultType: 'complete' }), ...result };
  }
  if (isModern && isTaskMethod(method)) return answerTaskMethod(parts, method, context);
  if (hasTasks(context) && isLegacyTaskMethod(method)) {
    return answerLegacyTaskMethod(parts, method, context);
  }
  const hasSkills = offersSkills(parts.routes);
  const known = {
    ...CACHEABLE,
    ...(isModern ? MODERN : LEGACY),
    ...(hasSkills && PROMPTS),
    ...(hasSkills && isModern && SKILL_METHODS),
  };
  const answer = Object.hasOwn(known, method) ? known[method] : undefined;
  if (answer === undefined) {
    await context.count();
    throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${method.slice(0, 100)}`, {
      status: isModern ? 404 : 200,
    });
  }
  const result = await answer(parts, context);
  if (isModern && method === 'prompts/get') return { ...result, resultType: 'complete' };
  // Lists depend on the scopes of the caller, which can change at any time.
  return isModern ? { ...result, resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : result;
}

async function callTool(
  { tools, services, maxWaitMs }: ServerParts,
  context: MessageContext,
): Promise<JsonObject> {
  const { params, runner, call, count } = context;
  const { name, arguments: args = {} } = params;
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined || !isObject(args)) {
    await count();
    throw new RpcError(
      INVALID_PARAMS,
      tool === undefined ? `Unknown tool: ${nameOf(name)}` : 'arguments: expected an object',
    );
  }
  const own = { services, runner, call, maxWaitMs };
  const asked = hasTasks(context) ? readTaskParameter(params) : undefined;
  if (asked !== undefined) return createTask(tool, { args, asked, count }, own);
  try {
    if (tool.task !== undefined && followsTasks(context)) return await startTask(tool.task, args, own);
    return { ...(await tool.call(args, own)) };
  } catch (error) {
    if (error instanceof WrongArgument) await count();
    if (isStorageUnavailable(error)) {
      services.onError({ operation: `tool:${tool.name}`, requestId: call.requestId, error });
    }
    return { ...toFailure(error) };
  }
}

function nameOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 100) : `expected text, got ${typeof value}`;
}

/** Whether the caller has the scopes of all operations of the tool. */
function mayCall({ operations }: McpTool, routes: Routes, { caller }: Call): boolean {
  try {
    for (const id of operations) {
      const route = routes.get(id);
      if (route !== undefined) checkScopes(route.operation, caller);
    }
    return true;
  } catch {
    return false;
  }
}

function describeTasks({ task }: McpTool): JsonObject {
  return task === undefined ? {} : { execution: { taskSupport: 'optional' } };
}

function describe({ name, title, description, inputSchema, isReadOnly }: McpTool): JsonObject {
  return {
    name,
    title,
    description,
    inputSchema,
    annotations: { title, readOnlyHint: isReadOnly, destructiveHint: false, openWorldHint: !isReadOnly },
  };
}
