import type { MediaLoader } from '@questline/core/internal';
import type { ModelContent, ModelMessage } from '@questline/core/ports';
import { issue, unsupported } from '../errors.ts';
import { parseArguments } from '../tool-arguments.ts';
import { type Approvals, type CallResult, toCallResult } from './approvals.ts';
import type { CallItem, MessageItem, OutputItem, WholeItem } from './contract-items.ts';
import { type EarlierItems, toItemPath } from './item-path.ts';
import { toMcpUse } from './mcp-tools.ts';
import { toContent, toToolResult } from './media.ts';
import { readReasoning } from './reasoning.ts';
import { isResultRecord, readServerCall } from './server-items.ts';
import { SEARCH, toCustomArguments, toModelName } from './tools.ts';

/** Records of tools that the vendor ran: their outcome is in the message that follows. */
const SKIPPED: readonly string[] = ['code_interpreter_call'];

const OUTPUTS: readonly string[] = ['function_call_output', 'custom_tool_call_output', 'tool_search_output'];

/** What to do instead of sending an item. */
const INSTEAD: Readonly<Record<string, string>> = {
  compaction: 'only the vendor can read it; send the conversation or a summary of it',
};

export interface InputOptions {
  readonly media: MediaLoader;
  /** The provider of the requested model. */
  readonly provider: string;
  readonly earlier: EarlierItems;
  readonly approvals: Approvals;
}

/** A call of a tool in the open message of the assistant. */
interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly index: number;
  /** The result of a tool that the server ran. */
  readonly result?: CallResult;
}

/**
 * Converts instructions and items to messages. Reasoning, text and calls stay in their order; the results of the calls
 * follow them at once, also when other items stand between.
 * @throws ApiError 400 for a result without its call, a call without its result, and items that cannot be read here.
 */
export async function toModelMessages(
  instructions: string | null | undefined,
  items: readonly WholeItem[],
  options: InputOptions,
): Promise<ModelMessage[]> {
  const head: ModelMessage[] = instructions
    ? [{ role: 'system', content: [{ type: 'text', text: instructions }] }]
    : [];
  const messages = await convert(items, options);
  if (messages.length === 0 && head.length === 0) throw issue('input', 'no item has content');
  return [...head, ...messages];
}

async function convert(
  items: readonly WholeItem[],
  { media, provider, earlier, approvals }: InputOptions,
): Promise<ModelMessage[]> {
  const messages: ModelMessage[] = [];
  const taken = new Set<number>();
  let said: ModelContent[] = [];
  let calls: OpenCall[] = [];

  /** Ends the message of the assistant. */
  const end = async (): Promise<void> => {
    // Reasoning alone is accepted by no provider.
    if (said.some(({ type }) => type !== 'thinking')) messages.push({ role: 'assistant', content: said });
    const results: ModelContent[] = [];
    const attached: ModelContent[] = [];
    for (const call of calls) {
      const { id: toolUseId, name: toolName, result } = call;
      if (result !== undefined) {
        const { content, isError } = result;
        results.push({ type: 'tool_result', toolUseId, toolName, content, isError });
        continue;
      }
      const place = findResult(items, call, taken, earlier);
      taken.add(place);
      const item = items[place] as OutputItem;
      const { text, attached: more } = await toToolResult(item, call.name, toItemPath(place, earlier), media);
      results.push({ type: 'tool_result', toolUseId, toolName, content: text, isError: false });
      attached.push(...more);
    }
    if (results.length > 0) messages.push({ role: 'user', content: [...results, ...attached] });
    said = [];
    calls = [];
  };

  /** What follows calls that all have their results is another message. */
  const endServerRound = async (): Promise<void> => {
    if (calls.length > 0 && calls.every(({ result }) => result !== undefined)) await end();
  };

  const addServerCall = ({ input, ...call }: OpenCall & { readonly input: unknown }): void => {
    const { id, name } = call;
    calls.push(call);
    said.push({ type: 'tool_use', id, name, input });
  };

  for (const [index, item] of items.entries()) {
    const path = toItemPath(index, earlier);
    switch (item.type) {
      case 'reasoning': {
        const block = readReasoning(item, provider, path);
        if (block === undefined) break;
        const result = readServerCall(block, path);
        if (result === undefined) {
          await endServerRound();
          said.push({ type: 'thinking', block });
        } else if (result.approvalId === undefined || !approvals.has(result.approvalId)) {
          addServerCall({ ...result, index, result });
        }
        break;
      }
      case 'mcp_call': {
        const { id, approval_request_id: approvalId } = item;
        const isKnown = approvalId != null && approvals.has(approvalId);
        if (isKnown || isResultRecord(items[index + 1])) break;
        addServerCall({ id, ...toMcpUse(item), index, result: toCallResult(item) });
        break;
      }
      case 'mcp_approval_request': {
        const { id } = item;
        if (calls.some((call) => call.id === id)) break;
        addServerCall({ id, ...toMcpUse(item), index, result: approvals.getResult(id) });
        break;
      }
      case 'mcp_list_tools':
      case 'mcp_approval_response':
        break;
      case 'web_search_call':
      case 'file_search_call':
        // Without the record of its result a call is left out, with its reasoning: providers refuse one without the other.
        if (!isResultRecord(items[index + 1])) {
          while (said.at(-1)?.type === 'thinking') said.pop();
        }
        break;
      case 'function_call':
      case 'custom_tool_call':
      case 'tool_search_call': {
        const name = item.type === 'tool_search_call' ? SEARCH : toModelName(item.name, item.namespace);
        if (calls.some(({ id }) => id === item.call_id)) {
          throw issue(`${path}.call_id`, 'another open call has this id');
        }
        calls.push({ id: item.call_id, name, index });
        said.push({ type: 'tool_use', id: item.call_id, name, input: toArguments(item, path) });
        break;
      }
      case 'function_call_output':
      case 'custom_tool_call_output':
      case 'tool_search_output':
        await end();
        if (!taken.has(index)) throw issue(`${path}.call_id`, 'no tool call before it has this id');
        break;
      case 'message':
        if (item.role === 'assistant') {
          await endServerRound();
          said.push(...toAssistantContent(item, path));
        } else {
          await end();
          messages.push(...(await toMessage(item, path, media)));
        }
        break;
      case 'additional_tools':
        break;
      case 'other':
        checkReadable(item, path);
        break;
    }
  }
  await end();
  return messages;
}

/** @returns the place of the first result after the call that no other call took. */
function findResult(
  items: readonly WholeItem[],
  { id, index }: OpenCall,
  taken: ReadonlySet<number>,
  earlier: EarlierItems,
): number {
  for (let place = index + 1; place < items.length; place += 1) {
    const item = items[place];
    if (item !== undefined && isOutput(item) && item.call_id === id && !taken.has(place)) return place;
  }
  throw issue(toItemPath(index, earlier), 'the tool call has no result');
}

function isOutput(item: WholeItem): item is OutputItem {
  return OUTPUTS.includes(item.type);
}

function toArguments(item: CallItem, path: string): unknown {
  if (item.type === 'custom_tool_call') return toCustomArguments(item.input);
  if (item.type === 'tool_search_call') return item.arguments;
  return parseArguments(item.arguments, `${path}.arguments`);
}

async function toMessage(
  { role, content }: MessageItem,
  path: string,
  media: MediaLoader,
): Promise<ModelMessage[]> {
  const parts: ModelContent[] = [];
  for (const [position, part] of toParts(content).entries()) {
    const place = `${path}.content.${position}`;
    if (part.type === 'output_text' || part.type === 'refusal') {
      throw issue(place, `${part.type} belongs into messages of the assistant`);
    }
    parts.push(...(await toContent(part, place, media)));
  }
  if (role === 'user') return parts.length === 0 ? [] : [{ role, content: parts }];
  const texts = parts.map((part) => {
    if (part.type === 'text') return part.text;
    throw issue(path, `messages of the role ${role} have only text`);
  });
  const text = texts.join('\n');
  return text === '' ? [] : [{ role: 'system', content: [{ type: 'text', text }] }];
}

function toAssistantContent({ content }: MessageItem, path: string): ModelContent[] {
  return toParts(content).flatMap((part, position): ModelContent[] => {
    if (part.type === 'input_image' || part.type === 'input_file') {
      throw issue(`${path}.content.${position}`, `${part.type} belongs into messages of the user`);
    }
    const text = part.type === 'refusal' ? part.refusal : part.text;
    return text === '' ? [] : [{ type: 'text', text }];
  });
}

function toParts(content: MessageItem['content']): Exclude<MessageItem['content'], string> {
  return typeof content === 'string' ? [{ type: 'input_text', text: content }] : content;
}

/** @throws ApiError 400 for an item that has no meaning here. */
export function checkReadable(item: WholeItem, path: string): void {
  if (item.type === 'other' && !SKIPPED.includes(item.name)) throw refuseItem(item.name, path);
}

function refuseItem(type: string, path: string): ReturnType<typeof unsupported> {
  const instead = Object.hasOwn(INSTEAD, type) ? INSTEAD[type] : 'items of this type cannot be read here';
  return unsupported(`${path}.type`, `${type}: ${instead}`);
}
