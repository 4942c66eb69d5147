import type { ServerToolPart, ToolServerFailure } from '@questline/core/ports';

/* The items of tool servers: their tools, calls of these, and requests for approval. */

type CallPart = Extract<ServerToolPart, { type: 'server_tool_call' }>;
type ResultPart = Extract<ServerToolPart, { type: 'server_tool_result' }>;
type ApprovalPart = Extract<ServerToolPart, { type: 'server_tool_approval' }>;
type ListPart = Extract<ServerToolPart, { type: 'server_tool_list' }>;

type McpError =
  | { readonly type: 'mcp_protocol_error' | 'http_error'; readonly code: number; readonly message: string }
  | {
      readonly type: 'mcp_tool_execution_error';
      readonly content: readonly { readonly type: 'text'; readonly text: string }[];
    };

export interface McpCallItem {
  readonly id: string;
  readonly type: 'mcp_call';
  readonly status: 'in_progress' | 'completed' | 'failed';
  readonly server_label: string;
  readonly name: string;
  readonly arguments: string;
  readonly approval_request_id: string | null;
  readonly output: string | null;
  readonly error: McpError | null;
}

export interface McpListItem {
  readonly id: string;
  readonly type: 'mcp_list_tools';
  readonly server_label: string;
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly input_schema: unknown;
    readonly annotations: { readonly read_only: boolean };
  }[];
  readonly error?: string;
}

export interface McpApprovalItem {
  readonly id: string;
  readonly type: 'mcp_approval_request';
  readonly server_label: string;
  readonly name: string;
  readonly arguments: string;
}

/** The item of a call that begins. @param id the end of the item id. */
export function toMcpCall(
  { target, arguments: json }: CallPart & { readonly target: NonNullable<CallPart['target']> },
  id: string,
): McpCallItem {
  return {
    id: `mcp_${id}`,
    type: 'mcp_call',
    status: 'in_progress',
    server_label: target.server,
    name: target.tool,
    arguments: json,
    approval_request_id: target.approvalId ?? null,
    output: null,
    error: null,
  };
}

export function isMcpCall({ type }: { readonly type: string }): boolean {
  return type === 'mcp_call';
}

export function endMcpCall(item: McpCallItem, { isError, content, failure }: ResultPart): McpCallItem {
  if (!isError) return { ...item, status: 'completed', output: content };
  return { ...item, status: 'failed', error: toError(content, failure) };
}

export function toMcpList({ server, tools, error }: ListPart, id: string): McpListItem {
  return {
    id: `mcpl_${id}`,
    type: 'mcp_list_tools',
    server_label: server,
    tools: tools.map(({ name, description, parameters, isReadOnly }) => ({
      name,
      description,
      input_schema: parameters,
      annotations: { read_only: isReadOnly },
    })),
    ...(error !== undefined && { error }),
  };
}

export function toMcpApproval({ target, arguments: json }: ApprovalPart, id: string): McpApprovalItem {
  return {
    id: `mcpr_${id}`,
    type: 'mcp_approval_request',
    server_label: target.server,
    name: target.tool,
    arguments: json,
  };
}

function toError(message: string, failure: ToolServerFailure | undefined): McpError {
  if (failure === undefined) {
    return { type: 'mcp_tool_execution_error', content: [{ type: 'text', text: message }] };
  }
  const type = failure.type === 'protocol' ? 'mcp_protocol_error' : 'http_error';
  return { type, code: failure.code, message };
}
