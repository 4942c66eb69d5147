import {
  type ApprovedCall,
  type Call,
  getPayer,
  type ServerToolScope,
  type ToolServerList,
} from '@questline/core/internal';
import type { ToolSchema, ToolServerOffer, ToolServerOffers } from '@questline/core/ports';
import { issue, unsupported } from '../errors.ts';
import type { PendingApproval } from './approvals.ts';
import type { McpFilter, RequestTool } from './contract-tools.ts';
import { readInput } from './server-items.ts';
import type { RequestedServerTool } from './server-tools.ts';

/** A tool of a tool server that a response offers. */
export interface McpTool {
  readonly type: 'mcp';
  readonly id: string;
  readonly target: { readonly server: string; readonly tool: string };
  readonly needsApproval: boolean;
}

/** A tool server of a request. */
export interface McpServerTools {
  readonly tools: readonly McpTool[];
  readonly schemas: readonly ToolSchema[];
  readonly list: ToolServerList;
}

export interface McpToolServices {
  readonly toolRegistry: {
    listServer?(serverId: string, scope: ServerToolScope): Promise<ToolServerOffers | undefined>;
  };
}

/** Characters of a tool name that every provider accepts. */
const MAX_NAME = 64;
const CONFIGURED = 'this server calls only the tool servers that its host has configured';

/**
 * Finds the tools of a tool server for the user. The host configures the servers and gives the credential of the user: the
 * request only names one.
 * @throws ApiError 400 for an unknown server, and for the address of another one.
 */
export async function readMcpServer(
  { toolRegistry }: McpToolServices,
  { id: sessionId, caller }: Call,
  { tool, path }: RequestedServerTool,
): Promise<McpServerTools> {
  const { server_label: server, server_url: url, require_approval: approval } = tool;
  if (server === undefined) throw issue(`${path}.server_label`, 'is required');
  for (const field of ['connector_id', 'tunnel_id']) {
    if (tool[field] != null) {
      throw unsupported(
        `${path}.${field}`,
        `${CONFIGURED}; leave ${field} out, and name one in server_label`,
      );
    }
  }
  const scope = { userId: caller.userId, sessionId, payer: getPayer(caller) };
  const found = await toolRegistry.listServer?.(server, scope);
  if (url != null && (found === undefined || !isSameAddress(url, found.url))) {
    throw unsupported(
      `${path}.server_url`,
      `${CONFIGURED}; leave server_url out, and name one in server_label`,
    );
  }
  if (found === undefined) {
    throw issue(`${path}.server_label`, `this server has no tool server of this name; ${CONFIGURED}`);
  }
  const offered = found.tools.filter((one) => one.connects === true || isAllowed(one, tool));
  return {
    tools: offered.map((one) => ({
      type: 'mcp',
      id: one.offer.id,
      target: { server, tool: one.name },
      needsApproval: one.connects !== true && needsApproval(one, approval),
    })),
    schemas: offered.map(({ offer }) => offer.schema),
    list: {
      type: 'server_tool_list',
      server,
      tools: offered.map(({ name, isReadOnly, offer: { schema } }) => {
        const { description, parameters } = schema;
        return { name, description, parameters, isReadOnly };
      }),
      ...(found.error !== undefined && { error: found.error }),
    },
  };
}

/** @throws ApiError 400 for a call of a tool that the request does not offer. */
export function toApprovedCall(
  { id, server, tool, arguments: json, path }: PendingApproval,
  offered: readonly McpTool[],
): ApprovedCall {
  const found = offered.find(({ target }) => target.server === server && target.tool === tool);
  if (found === undefined) {
    const message = 'the request does not offer the tool that was approved; send its tools again';
    throw issue(`${path}.approval_request_id`, message);
  }
  return { id, name: found.id, arguments: json, target: { ...found.target, approvalId: id } };
}

/** A call of a tool server, as the model knows it. */
export function toMcpUse({
  server_label: server,
  name,
  arguments: json,
}: {
  readonly server_label: string;
  readonly name: string;
  readonly arguments: string;
}): { readonly name: string; readonly input: unknown } {
  return { name: `${server}__${name}`.replaceAll(/[^\w-]/g, '_').slice(0, MAX_NAME), input: readInput(json) };
}

function isAllowed(tool: ToolServerOffer, { allowed_tools: allowed }: RequestTool): boolean {
  if (allowed == null) return true;
  return Array.isArray(allowed) ? allowed.includes(tool.name) : fits(tool, allowed as McpFilter);
}

/** As at the vendor, a call needs approval unless the request says that it does not. */
function needsApproval(tool: ToolServerOffer, approval: RequestTool['require_approval']): boolean {
  if (approval == null || typeof approval === 'string') return approval !== 'never';
  const { always, never } = approval;
  if (always != null && fits(tool, always)) return true;
  return never == null || !fits(tool, never);
}

/** Whether every condition of a filter holds. A filter without conditions fits no tool. */
function fits({ name, isReadOnly }: ToolServerOffer, { tool_names: names, read_only: readOnly }: McpFilter) {
  if (names == null && readOnly == null) return false;
  return (names == null || names.includes(name)) && (readOnly == null || readOnly === isReadOnly);
}

function isSameAddress(asked: string, configured: string | undefined): boolean {
  return configured !== undefined && URL.canParse(asked) && new URL(asked).href === new URL(configured).href;
}
