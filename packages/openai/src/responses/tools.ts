import type { GenerateRequest, ToolChoice, ToolSchema } from '@questline/core/ports';
import { issue, unsupported } from '../errors.ts';
import type { ResponseBody } from './contract.ts';
import type { WholeItem } from './contract-items.ts';
import type { PlainTool, RequestTool } from './contract-tools.ts';
import { type EarlierItems, toItemPath } from './item-path.ts';
import type { McpTool } from './mcp-tools.ts';
import { getServerToolType, type RequestedServerTool, type ServerToolType } from './server-tools.ts';

/** A tool as the client knows it. */
export interface WireTool {
  /** `search`: the client searches for tools. */
  readonly kind: 'function' | 'custom' | 'search';
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** The tools of a request, by the names that the model sees. */
export interface ToolTable {
  readonly schemas: readonly ToolSchema[];
  find(modelName: string): WireTool | undefined;
  /** What `find` knows, as plain JSON. */
  readonly entries: readonly (readonly [modelName: string, tool: WireTool])[];
  /** The tools that the server is asked to run. */
  readonly requested: readonly RequestedServerTool[];
}

/** What the vendor's own tools and those of one program need here. */
const INSTEAD: Readonly<Record<string, string>> = {
  code_interpreter: 'offer a function instead',
  image_generation: 'use images/generations',
  local_shell: 'offer a function instead',
  tool_search: 'set execution to client, or offer all tools',
};

/** The name of the search for tools. */
export const SEARCH = 'tool_search';

/** The field with the whole text of a call of a custom tool. */
const INPUT = 'input';

const CUSTOM_PARAMETERS = {
  type: 'object',
  properties: { [INPUT]: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: [INPUT],
  additionalProperties: false,
};

/**
 * Reads the tools of a request, and those that its items add. Custom tools become functions with one text; the tools of a
 * namespace get its name in front.
 * @throws ApiError 400 for tools of the vendor that this server does not have, and for two offered tools of one name.
 */
export function readTools(
  { tools }: Pick<ResponseBody, 'tools'>,
  items: readonly WholeItem[],
  earlier: EarlierItems,
): ToolTable {
  const schemas: ToolSchema[] = [];
  const table = new Map<string, WireTool>();
  const requested = new Map<string, RequestedServerTool>();
  const set = (tool: WireTool, schema: ToolSchema, path: string, isAdded: boolean): void => {
    const isKnown = table.has(schema.name) || requested.has(schema.name);
    if (isKnown && !isAdded) throw issue(`${path}.name`, 'another tool has this name');
    if (isKnown) return;
    table.set(schema.name, tool);
    schemas.push(schema);
  };
  const addPlain = (tool: PlainTool, path: string, namespace: string | undefined, isAdded: boolean): void => {
    const { type: kind, name } = tool;
    if (kind !== 'function' && kind !== 'custom') throw refuseType(kind, path);
    if (name === undefined) throw issue(`${path}.name`, 'is required');
    const toSchema = kind === 'function' ? toFunction : toCustom;
    set({ kind, name, namespace }, toSchema(tool, toModelName(name, namespace)), path, isAdded);
  };
  const request = (type: ServerToolType, tool: RequestTool, path: string, isAdded: boolean): void => {
    if (table.has(type)) throw issue(`${path}.type`, `another tool has the name ${type}`);
    const key = type === 'mcp' ? `mcp ${tool.server_label}` : type;
    if (!requested.has(key)) requested.set(key, { type, tool, path });
    else if (!isAdded) throw issue(`${path}.type`, `the request offers ${key} twice`);
  };
  const add = (offered: readonly RequestTool[], place: string, isAdded: boolean): void => {
    for (const [index, tool] of offered.entries()) {
      const path = `${place}.${index}`;
      const serverType = getServerToolType(tool.type);
      if (serverType !== undefined) {
        request(serverType, tool, path, isAdded);
      } else if (tool.type === SEARCH && tool.execution === 'client') {
        set({ kind: 'search', name: SEARCH, namespace: undefined }, toFunction(tool, SEARCH), path, isAdded);
      } else if (tool.type === 'namespace') {
        if (tool.name === undefined) throw issue(`${path}.name`, 'is required');
        for (const [position, inner] of (tool.tools ?? []).entries()) {
          addPlain(inner, `${path}.tools.${position}`, tool.name, isAdded);
        }
      } else {
        addPlain(tool, path, undefined, isAdded);
      }
    }
  };
  add(tools ?? [], 'tools', false);
  for (const [index, item] of items.entries()) {
    if (item.type === 'additional_tools' || item.type === 'tool_search_output') {
      add(item.tools, `${toItemPath(index, earlier)}.tools`, true);
    }
  }
  return {
    schemas,
    find: (modelName) => table.get(modelName),
    entries: [...table],
    requested: [...requested.values()],
  };
}

/** The names of tools for the model. */
export function toModelNames(tools: readonly RequestTool[]): readonly string[] {
  return tools.flatMap(({ type, name = '', tools: inner = [] }) =>
    type === 'namespace' ? inner.map((tool) => toModelName(tool.name ?? '', name)) : [name],
  );
}

/** The name of a tool for the model. */
export function toModelName(name: string, namespace: string | null | undefined): string {
  if (!namespace) return name;
  return namespace.endsWith('_') ? namespace + name : `${namespace}__${name}`;
}

/** The arguments of a call of a custom tool, for the model. */
export function toCustomArguments(input: string): Readonly<Record<string, string>> {
  return { [INPUT]: input };
}

/** @param text the JSON arguments of the model. */
export function readCustomInput(text: string): string {
  const value = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const input = value[INPUT];
  return typeof input === 'string' ? input : text;
}

/** The tools of a request, with those of the server. */
export interface OfferedTools extends Pick<ToolTable, 'schemas' | 'find'> {
  readonly mcpTools?: readonly McpTool[];
}

/** The tools and the choice of a request. @throws ApiError 400 for a choice of a tool that is not offered. */
export function toToolFields(
  { tool_choice: choice }: Pick<ResponseBody, 'tool_choice'>,
  { schemas, find, mcpTools = [] }: OfferedTools,
): Pick<GenerateRequest, 'tools' | 'toolChoice'> {
  const tools = schemas.length > 0 ? { tools: schemas } : {};
  if (choice == null) return tools;
  if (typeof choice === 'string') {
    if (schemas.length > 0) return { ...tools, toolChoice: choice };
    if (choice === 'required') throw issue('tool_choice', 'the request offers no tools');
    return tools;
  }
  const check = (name: string | null | undefined, path: string): string => {
    if (name == null) throw issue(`${path}.name`, 'is required');
    if (find(name) === undefined) throw issue(path, 'the request offers no tool of this name');
    return name;
  };
  const checkServerTool = (type: ServerToolType, chosen: ChosenTool, path: string): readonly string[] => {
    if (type === 'mcp') return findMcpTools(mcpTools, chosen, path);
    if (!schemas.some(({ name }) => name === type)) throw issue(path, `the request offers no ${type}`);
    return [type];
  };
  const only = (allowed: readonly string[], mode: ToolChoice) => ({
    tools: schemas.filter(({ name }) => allowed.includes(name)),
    toolChoice: mode,
  });
  const serverType = getServerToolType(choice.type);
  if (serverType !== undefined) {
    const names = checkServerTool(serverType, choice, 'tool_choice');
    const [name] = names;
    return names.length === 1 && name !== undefined
      ? { ...tools, toolChoice: { name } }
      : only(names, 'required');
  }
  switch (choice.type) {
    case 'function':
    case 'custom':
      return { ...tools, toolChoice: { name: check(choice.name, 'tool_choice') } };
    case 'allowed_tools': {
      const allowed = (choice.tools ?? []).flatMap((one, index) => {
        const path = `tool_choice.tools.${index}`;
        const allowedType = getServerToolType(one.type);
        return allowedType === undefined ? [check(one.name, path)] : checkServerTool(allowedType, one, path);
      });
      if (allowed.length === 0) throw issue('tool_choice.tools', 'expected at least one tool');
      return only(allowed, choice.mode ?? 'auto');
    }
    default:
      throw unsupported('tool_choice.type', choice.type.slice(0, 100));
  }
}

type ChosenTool = Pick<RequestTool, 'server_label'> & { readonly name?: string | null | undefined };

/** The names for the model of the chosen tools of a tool server. */
function findMcpTools(
  mcpTools: readonly McpTool[],
  { server_label: server, name }: ChosenTool,
  path: string,
): readonly string[] {
  if (server === undefined) throw issue(`${path}.server_label`, 'is required');
  const found = mcpTools.filter(
    ({ target }) => target.server === server && (name == null || target.tool === name),
  );
  if (found.length === 0) throw issue(path, 'the request offers no such tool of a tool server');
  return found.map(({ id }) => id);
}

function refuseType(type: string, path: string): ReturnType<typeof unsupported> {
  const kind = type.replace(/_\d{4}_\d{2}_\d{2}$/, '').slice(0, 100);
  const instead = Object.hasOwn(INSTEAD, kind) ? INSTEAD[kind] : 'offer functions or custom tools';
  return unsupported(`${path}.type`, `${kind}: ${instead}`);
}

function toFunction({ description, parameters }: PlainTool, name: string): ToolSchema {
  return {
    name,
    description: description ?? '',
    parameters: parameters ?? { type: 'object', properties: {} },
  };
}

/** Models cannot be bound to a grammar: they read it. */
function toCustom({ description, format }: PlainTool, name: string): ToolSchema {
  const grammar =
    format?.type === 'grammar' && format.definition !== undefined
      ? `The input follows this ${format.syntax ?? 'formal'} grammar:\n${format.definition}`
      : '';
  return {
    name,
    description: [description ?? '', grammar].filter((part) => part !== '').join('\n\n'),
    parameters: CUSTOM_PARAMETERS,
  };
}
