import type { MediaLoader } from '@questline/core/internal';
import type { ModelContent, ModelMessage } from '@questline/core/ports';
import { issue } from '../errors.ts';
import type { MessagesBody, RequestMessage } from './contract.ts';
import type { RequestBlock } from './contract-blocks.ts';
import { isMarked, toPlainContent, toToolResult } from './media.ts';
import { readThought } from './thoughts.ts';

type Turn = Extract<RequestMessage, { readonly role: 'user' | 'assistant' }>;

/** A line for billing that Claude Code puts first and changes with each request: it would make every prompt new to a cache. */
const BILLING = /^x-anthropic-billing-header:[^\n]*\n?/;

/** State of a conversation: the calls that wait for their results. */
interface Waiting {
  /** The names of the calls, by id. */
  readonly names: Map<string, string>;
  /** The user has said something else since the calls. */
  hasSpoken: boolean;
}

/**
 * Converts a conversation to the form for providers.
 * @throws ApiError 400 for a tool result without its call, after other content or missing, and for content that no provider
 * accepts.
 */
export async function toModelMessages(
  { system, messages }: Pick<MessagesBody, 'system' | 'messages'>,
  media: MediaLoader,
): Promise<ModelMessage[]> {
  const converted = toSystem(system);
  const waiting: Waiting = { names: new Map(), hasSpoken: false };
  /** Instructions between calls and their results, which nothing may separate. */
  const delayed: ModelMessage[] = [];
  let hasBegun = false;
  for (const [index, message] of messages.entries()) {
    const path = `messages.${index}`;
    if (message.role === 'system') {
      const said = hasBegun ? toReminder(message) : toSystem(message.content);
      (waiting.names.size > 0 ? delayed : converted).push(...said);
      continue;
    }
    hasBegun = true;
    if (message.role === 'user') {
      converted.push(...(await toUserMessages(message, path, waiting, media)));
      if (waiting.names.size === 0) converted.push(...delayed.splice(0));
      if (waiting.names.size > 0 && findNextRole(messages, index) !== 'user') {
        throw missingResults(path, waiting);
      }
    } else {
      if (waiting.names.size > 0) throw missingResults(path, waiting);
      waiting.hasSpoken = false;
      converted.push(...toAssistantMessage(message, path, waiting));
    }
  }
  if (waiting.names.size > 0) throw missingResults('messages', waiting);
  if (!converted.some(({ role }) => role !== 'system')) throw issue('messages', 'no message has content');
  return converted;
}

/** The role of the next turn. */
function findNextRole(messages: readonly RequestMessage[], index: number): string | undefined {
  let next = index + 1;
  while (messages[next]?.role === 'system') next += 1;
  return messages[next]?.role;
}

function missingResults(path: string, { names }: Waiting): ReturnType<typeof issue> {
  const ids = [...names.keys()].slice(0, 5).join(', ');
  return issue(path, `the next message after tool_use blocks needs their tool_result blocks: ${ids}`);
}

function toSystem(system: MessagesBody['system']): ModelMessage[] {
  const blocks = typeof system === 'string' ? [{ type: 'text' as const, text: system }] : (system ?? []);
  const content = blocks
    .map(({ text }): ModelContent => ({ type: 'text', text: text.replace(BILLING, '') }))
    .filter((part) => part.type === 'text' && part.text !== '');
  if (content.length === 0) return [];
  return [{ role: 'system', content, ...(blocks.some(isMarked) && { cacheBreakpoint: true }) }];
}

/** Providers collect system messages at the head of the prompt, where a later one would make the prompt new to a cache. */
function toReminder({ content }: Extract<RequestMessage, { readonly role: 'system' }>): ModelMessage[] {
  const said = typeof content === 'string' ? content : content.map(({ text }) => text).join('\n');
  if (said === '') return [];
  const text = `<system-reminder>\n${said}\n</system-reminder>`;
  return [{ role: 'user', content: [{ type: 'text', text }] }];
}

/** A marked block ends a message, because a message has its cache breakpoint at its end. */
async function toUserMessages(
  { content }: Turn,
  path: string,
  waiting: Waiting,
  media: MediaLoader,
): Promise<ModelMessage[]> {
  if (typeof content === 'string') {
    if (content === '') return [];
    waiting.hasSpoken = true;
    return [{ role: 'user', content: [{ type: 'text', text: content }] }];
  }
  const messages: ModelMessage[] = [];
  const attached: ModelContent[] = [];
  let parts: ModelContent[] = [];
  const end = (cacheBreakpoint: boolean): void => {
    if (parts.length > 0) {
      messages.push({ role: 'user', content: parts, ...(cacheBreakpoint && { cacheBreakpoint }) });
    }
    parts = [];
  };
  for (const [position, block] of content.entries()) {
    const place = `${path}.content.${position}`;
    if (block.type === 'tool_result') {
      const name = takeCall(block.tool_use_id, place, waiting);
      const { text, attached: more } = await toToolResult(block, name, place, media);
      const isError = block.is_error === true;
      parts.push({
        type: 'tool_result',
        toolUseId: block.tool_use_id,
        toolName: name,
        content: text,
        isError,
      });
      attached.push(...more);
    } else {
      waiting.hasSpoken = true;
      parts.push(...attached.splice(0), ...(await toUserContent(block, place, media)));
    }
    if (isMarked(block)) end(true);
  }
  parts.push(...attached);
  end(false);
  return messages;
}

function takeCall(id: string, path: string, waiting: Waiting): string {
  const name = waiting.names.get(id);
  if (name === undefined) {
    throw issue(`${path}.tool_use_id`, 'no tool_use block in the previous message has this id');
  }
  if (waiting.hasSpoken) throw issue(path, 'tool_result blocks come first in a user message');
  waiting.names.delete(id);
  return name;
}

async function toUserContent(
  block: Exclude<RequestBlock, { readonly type: 'tool_result' }>,
  path: string,
  media: MediaLoader,
): Promise<readonly ModelContent[]> {
  switch (block.type) {
    case 'tool_use':
    case 'thinking':
    case 'redacted_thinking':
      throw issue(path, `${block.type} blocks belong into messages of the assistant`);
    default:
      return toPlainContent(block, path, media);
  }
}

function toAssistantMessage({ content }: Turn, path: string, { names }: Waiting): ModelMessage[] {
  if (typeof content === 'string') {
    return content === '' ? [] : [{ role: 'assistant', content: [{ type: 'text', text: content }] }];
  }
  const parts: ModelContent[] = [];
  for (const [position, block] of content.entries()) {
    const place = `${path}.content.${position}`;
    switch (block.type) {
      case 'text':
        parts.push({ type: 'text', text: block.text });
        break;
      case 'tool_use':
        if (names.has(block.id)) throw issue(`${place}.id`, 'another tool_use block has this id');
        names.set(block.id, block.name);
        parts.push({ type: 'tool_use', id: block.id, name: block.name, input: block.input });
        break;
      case 'thinking':
      case 'redacted_thinking': {
        const thought = readThought(block, place);
        if (thought !== undefined) parts.push({ type: 'thinking', block: thought });
        break;
      }
      default:
        throw issue(place, `${block.type} blocks belong into messages of the user`);
    }
  }
  if (parts.length === 0) return [];
  return [{ role: 'assistant', content: parts, ...(content.some(isMarked) && { cacheBreakpoint: true }) }];
}
