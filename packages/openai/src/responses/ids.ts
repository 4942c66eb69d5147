import { isId } from '@questline/core/internal';
import type { WholeItem } from './contract-items.ts';

const PREFIX = 'resp_';
const ITEM_ID = /^[a-z]{2,5}_([^_]+)_(?:in)?\d+$/;

const ITEM_PREFIXES: Readonly<Record<WholeItem['type'], string>> = {
  message: 'msg',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  tool_search_call: 'tsc',
  tool_search_output: 'tso',
  additional_tools: 'at',
  web_search_call: 'ws',
  file_search_call: 'fs',
  mcp_list_tools: 'mcpl',
  mcp_call: 'mcp',
  mcp_approval_request: 'mcpr',
  mcp_approval_response: 'mcpa',
  reasoning: 'rs',
  other: 'it',
};

/** @param id of the quest. */
export function toResponseId(id: string): string {
  return PREFIX + id;
}

/** @returns the id of the quest; undefined for a text that is no id of a response. */
export function readResponseId(text: string): string | undefined {
  const id = text.slice(PREFIX.length);
  return text.startsWith(PREFIX) && isId(id) ? id : undefined;
}

/** The id of an item of a request. @param id of the quest. */
export function toInputItemId({ type }: WholeItem, id: string, index: number): string {
  return `${ITEM_PREFIXES[type]}_${id}_in${index}`;
}

/** @returns the id of the quest that an item belongs to; undefined for another text. */
export function readItemOwner(itemId: string): string | undefined {
  const [, id] = ITEM_ID.exec(itemId.slice(0, 200)) ?? [];
  return id !== undefined && isId(id) ? id : undefined;
}
