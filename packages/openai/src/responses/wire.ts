import type { WireCredits } from '@questline/core/internal';
import type { FinishReason } from '@questline/core/ports';
import { getConversationId } from '../conversations/ids.ts';
import type { ResponseUsage } from '../usage.ts';
import type { Annotation } from './annotations.ts';
import type { ResponseBody } from './contract.ts';
import type { RequestTool } from './contract-tools.ts';
import type { McpApprovalItem, McpListItem } from './mcp-items.ts';
import type { ServerToolItem } from './server-items.ts';

/* Answers by the types of the npm package `openai` 7.57.0. Fields without a counterpart there say so. */

type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export interface TextPart {
  readonly type: 'output_text';
  readonly text: string;
  readonly annotations: readonly Annotation[];
  readonly logprobs: readonly never[];
}

export interface SummaryPart {
  readonly type: 'summary_text';
  readonly text: string;
}

export interface MessageOutput {
  readonly id: string;
  readonly type: 'message';
  readonly status: ItemStatus;
  readonly role: 'assistant';
  readonly content: readonly TextPart[];
}

export interface ReasoningOutput {
  readonly id: string;
  readonly type: 'reasoning';
  readonly summary: readonly SummaryPart[];
  readonly encrypted_content?: string;
}

/** The fields of a call that both kinds have. */
interface NamedCall {
  readonly id: string;
  readonly status: ItemStatus;
  readonly call_id: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface FunctionOutput extends NamedCall {
  readonly type: 'function_call';
  readonly arguments: string;
}

export interface CustomOutput extends NamedCall {
  readonly type: 'custom_tool_call';
  readonly input: string;
}

/** A search for tools that the client runs. */
export interface SearchOutput {
  readonly id: string;
  readonly type: 'tool_search_call';
  readonly status: ItemStatus;
  readonly call_id: string;
  readonly execution: 'client';
  readonly arguments: unknown;
}

export type CallOutput = FunctionOutput | CustomOutput | SearchOutput;
export type ResponseItem =
  | MessageOutput
  | ReasoningOutput
  | CallOutput
  | ServerToolItem
  | McpListItem
  | McpApprovalItem;

export type ResponseStatus = 'queued' | 'cancelled' | 'in_progress' | 'completed' | 'incomplete' | 'failed';

/** The fields that change while a response is made. */
export interface ResponseState {
  readonly status: ResponseStatus;
  readonly output: readonly ResponseItem[];
  readonly completed_at: number | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly incomplete_details: { readonly reason: 'max_output_tokens' | 'content_filter' } | null;
  /** Absent until it is known. */
  readonly usage?: ResponseUsage;
  /** Not the vendor's. Absent while credits are not enforced. */
  readonly credits?: WireCredits;
}

/** Facts of a response that are known before it begins. */
export interface ResponseFacts {
  readonly id: string;
  /** Epoch seconds. */
  readonly createdAt: number;
  readonly model: string;
}

export type DescribedRequest = Readonly<Record<string, unknown>> & {
  readonly model: string;
  readonly background: boolean;
};

export type WireResponse = ResponseState & Readonly<Record<string, unknown>>;

/** The fields of a response that repeat its request. */
export function describeRequest(
  body: ResponseBody,
  { id, createdAt, model }: ResponseFacts,
): DescribedRequest {
  const { reasoning, text } = body;
  const conversationId = getConversationId(body);
  return {
    id,
    object: 'response',
    created_at: createdAt,
    model,
    access_programs: null,
    background: body.background === true,
    conversation: conversationId === undefined ? null : { id: conversationId },
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    metadata: body.metadata ?? {},
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    prompt: null,
    prompt_cache_key: toText(body.prompt_cache_key),
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    safety_identifier: toText(body.safety_identifier),
    service_tier: 'default',
    store: body.store !== false,
    temperature: body.temperature ?? null,
    text: { format: text?.format ?? { type: 'text' } },
    tool_choice: body.tool_choice ?? 'auto',
    tools: (body.tools ?? []).map(describeTool),
    top_logprobs: 0,
    top_p: body.top_p ?? null,
    truncation: 'disabled',
  };
}

export const BEGUN: ResponseState = {
  status: 'in_progress',
  output: [],
  completed_at: null,
  error: null,
  incomplete_details: null,
};

/** Why an answer is incomplete. Null: it is complete. */
export function toIncompleteDetails(reason: FinishReason | undefined): ResponseState['incomplete_details'] {
  if (reason === 'max_tokens') return { reason: 'max_output_tokens' };
  return reason === 'content_filter' ? { reason: 'content_filter' } : null;
}

/** A tool with the fields that the vendor's type requires. */
function describeTool(tool: RequestTool): Readonly<Record<string, unknown>> {
  switch (tool.type) {
    case 'function':
      return { parameters: null, strict: null, ...tool };
    case 'namespace':
      return { ...tool, description: tool.description ?? '' };
    default:
      return tool;
  }
}

function toText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
