import { isPackedThinking, packThinking, unpackThinking } from '@questline/core/internal';
import type { ServerToolPart, ThinkingBlock } from '@questline/core/ports';
import * as z from 'zod';
import { issue } from '../errors.ts';
import type { WholeItem } from './contract-items.ts';

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
export type ServerToolItem = WebSearchItem | FileSearchItem;

/** The item of a call that begins. @param id the end of the item id. */
export function toServerItem({ name, arguments: json }: CallPart, id: string): ServerToolItem {
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
  { isError, sources }: ResultPart,
  include: readonly string[],
): ServerToolItem {
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

const RECORD = 'questline_server_tool';

const record = z.object({
  type: z.literal(RECORD),
  id: z.string().min(1).max(200),
  name: z.enum(['web_search', 'file_search']),
  input: z.record(z.string(), z.unknown()),
  content: z.string(),
  isError: z.boolean(),
});

export type ServerCallRecord = z.output<typeof record>;

/** Writes a call and its result into a field that clients return. */
export function packServerCall({ id, name, arguments: json, content, isError }: ResultPart): string {
  return packThinking({ type: RECORD, id, name, input: readInput(json), content, isError });
}

export function isServerCall(item: WholeItem | undefined): boolean {
  return item?.type === 'web_search_call' || item?.type === 'file_search_call';
}

/** Whether the item keeps the result of the call before it. */
export function isResultRecord(item: WholeItem | undefined): boolean {
  if (item?.type !== 'reasoning') return false;
  const { encrypted_content: content } = item;
  return content != null && isPackedThinking(content) && unpackThinking(content)?.type === RECORD;
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

function readInput(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}
