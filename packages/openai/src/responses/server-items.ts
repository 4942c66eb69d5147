import { isPackedThinking, packThinking, unpackThinking } from '@questline/core/internal';
import type { ServerToolPart, ThinkingBlock } from '@questline/core/ports';
import * as z from 'zod';
import { issue } from '../errors.ts';
import type { ReasoningItem, WholeItem } from './contract-items.ts';
import { endMcpCall, type McpCallItem, toMcpCall } from './mcp-items.ts';

/* The items of tools that the server runs. */

type CallPart = Extract<ServerToolPart, { type: 'server_tool_call' }>;
type ResultPart = Extract<ServerToolPart, { type: 'server_tool_result' }>;

interface WebSearchItem {
  readonly id: string;
  readonly type: 'web_search_call';
  readonly status: 'in_progress' | 'completed' | 'failed';
  readonly action: {
    readonly type: 'search';
    readonly query: string;
    readonly queries: readonly string[];
    readonly sources?: readonly { readonly type: 'url'; readonly url: string }[];
  };
}

interface FileSearchItem {
  readonly id: string;
  readonly type: 'file_search_call';
  readonly status: 'in_progress' | 'completed' | 'failed';
  readonly queries: readonly string[];
  readonly results:
    | readonly {
        readonly file_id: string;
        readonly filename: string;
        readonly score: number;
        readonly text: string;
        readonly attributes: Readonly<Record<string, never>>;
      }[]
    | null;
}

/** A call that runs or has ended. */
export type ServerToolItem = WebSearchItem | FileSearchItem | McpCallItem;

/** The item of a call that begins. @param id the end of the item id. */
export function toServerItem(part: CallPart, id: string): ServerToolItem {
  const { name, arguments: json, target } = part;
  if (target !== undefined) return toMcpCall({ ...part, target }, id);
  const query = readQuery(json);
  const status = 'in_progress' as const;
  if (name === 'file_search') {
    return { id: `fs_${id}`, type: 'file_search_call', status, queries: [query], results: null };
  }
  const action = { type: 'search' as const, query, queries: [query] };
  return { id: `ws_${id}`, type: 'web_search_call', status, action };
}

/** @param include `web_search_call.action.sources`, `file_search_call.results`: what is left out without it. */
export function endServerItem(
  item: ServerToolItem,
  result: ResultPart,
  include: readonly string[],
): ServerToolItem {
  if (item.type === 'mcp_call') return endMcpCall(item, result);
  const { isError, sources } = result;
  const status = isError ? 'failed' : 'completed';
  if (item.type === 'web_search_call') {
    if (!include.includes('web_search_call.action.sources')) return { ...item, status };
    const urls = sources.flatMap((source) => (source.type === 'page' ? [source.url] : []));
    return {
      ...item,
      status,
      action: { ...item.action, sources: urls.map((url) => ({ type: 'url', url })) },
    };
  }
  if (!include.includes('file_search_call.results')) return { ...item, status };
  const results = sources.flatMap((source) => {
    if (source.type !== 'file') return [];
    const { fileId, name, score, text } = source;
    return [{ file_id: fileId, filename: name, score, text, attributes: {} }];
  });
  return { ...item, status, results };
}

const CALLS: readonly string[] = ['web_search_call', 'file_search_call', 'mcp_call'];

const RECORD = 'questline_server_tool';

const record = z.object({
  type: z.literal(RECORD),
  id: z.string().min(1).max(200),
  name: z.string().min(1).max(128),
  input: z.record(z.string(), z.unknown()),
  content: z.string(),
  isError: z.boolean(),
  /** The request for approval that the user has granted. */
  approvalId: z.string().max(200).optional(),
});

export type ServerCallRecord = z.output<typeof record>;

/** Writes a call and its result into a field that clients return. */
export function packServerCall({ id, name, arguments: json, content, isError, target }: ResultPart): string {
  const { approvalId } = target ?? {};
  const about = { id, name, input: readInput(json), content, isError };
  return packThinking({ type: RECORD, ...about, ...(approvalId !== undefined && { approvalId }) });
}

export function isServerCall(item: WholeItem | undefined): boolean {
  return item !== undefined && CALLS.includes(item.type);
}

/** Whether the item keeps the result of the call before it. */
export function isResultRecord(item: WholeItem | undefined): boolean {
  return item?.type === 'reasoning' && unpack(item)?.type === RECORD;
}

/** Reads the result of a call. @returns undefined for other reasoning, and for a changed record. */
export function readRecord(item: ReasoningItem): ServerCallRecord | undefined {
  return record.safeParse(unpack(item)).data;
}

function unpack({ encrypted_content: content }: ReasoningItem): ThinkingBlock | undefined {
  return content != null && isPackedThinking(content) ? unpackThinking(content) : undefined;
}

/** @returns undefined for reasoning of a model. @throws ApiError 400 for a changed record. */
export function readServerCall(block: ThinkingBlock, path: string): ServerCallRecord | undefined {
  if (block.type !== RECORD) return undefined;
  const read = record.safeParse(block);
  if (!read.success)
    throw issue(`${path}.encrypted_content`, 'changed: send reasoning items back as they came');
  return read.data;
}

function readQuery(json: string): string {
  const { query } = readInput(json);
  return typeof query === 'string' ? query : '';
}

export function readInput(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}
