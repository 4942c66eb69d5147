import { fromWireThinking, type MediaLoader } from '@questline/core/internal';
import type { ModelContent, ModelMessage, ThinkingBlock } from '@questline/core/ports';
import { issue, unsupported } from '../errors.ts';
import { parseArguments } from '../tool-arguments.ts';
import type { AssistantMessage, ChatMessage, FilePart, UserMessage } from './contract.ts';

/**
 * Converts a conversation to the form for providers. The results of one assistant message become one message of the user.
 * @throws ApiError 400 for a tool result without its call, and for a call without its result.
 */
export async function toModelMessages(
  messages: readonly ChatMessage[],
  media: MediaLoader,
): Promise<ModelMessage[]> {
  const converted: ModelMessage[] = [];
  /** The names of the calls that wait for their results, by id. */
  const waiting = new Map<string, string>();
  let results: ModelContent[] | undefined;
  for (const [index, message] of messages.entries()) {
    const path = `messages.${index}`;
    if (message.role === 'tool') {
      const name = waiting.get(message.tool_call_id);
      if (name === undefined) throw issue(`${path}.tool_call_id`, 'no tool call before it has this id');
      waiting.delete(message.tool_call_id);
      if (results === undefined) {
        results = [];
        converted.push({ role: 'user', content: results });
      }
      results.push({
        type: 'tool_result',
        toolUseId: message.tool_call_id,
        toolName: name,
        content: joinTexts(message.content),
        isError: false,
      });
      continue;
    }
    if (waiting.size > 0) throw issue(path, 'a tool call before it has no result');
    results = undefined;
    if (message.role === 'assistant') {
      for (const { id, function: called } of message.tool_calls ?? []) waiting.set(id, called.name);
      converted.push({ role: 'assistant', content: toAssistantContent(message, path) });
    } else if (message.role === 'user') {
      converted.push({ role: 'user', content: await toUserContent(message, path, media) });
    } else {
      converted.push({ role: 'system', content: [{ type: 'text', text: joinTexts(message.content) }] });
    }
  }
  if (waiting.size > 0) throw issue('messages', 'the last tool calls have no results');
  return converted;
}

function joinTexts(content: string | readonly { readonly text: string }[]): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text).join('\n');
}

async function toUserContent(
  { content }: UserMessage,
  path: string,
  media: MediaLoader,
): Promise<ModelContent[]> {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const parts: ModelContent[] = [];
  for (const [position, part] of content.entries()) {
    const place = `${path}.content.${position}`;
    switch (part.type) {
      case 'text':
        parts.push({ type: 'text', text: part.text });
        break;
      case 'image_url':
        parts.push(await media.image(part.image_url.url, `${place}.image_url.url`));
        break;
      case 'file':
        parts.push(...(await toFile(part.file, `${place}.file`, media)));
        break;
      case 'input_audio':
        throw unsupported(`${place}.input_audio`, 'use audio/transcriptions');
    }
  }
  return parts;
}

async function toFile(
  { file_data: inline, file_id: id, filename }: FilePart['file'],
  path: string,
  media: MediaLoader,
): Promise<readonly ModelContent[]> {
  if (inline != null) return [await media.inline(inline, filename ?? 'file', `${path}.file_data`)];
  if (id == null) throw issue(path, 'expected file_data or file_id');
  return media.stored(id, `${path}.file_id`);
}

function toAssistantContent(message: AssistantMessage, path: string): ModelContent[] {
  if (message.function_call != null) throw unsupported(`${path}.function_call`, 'use tool_calls');
  if (message.audio != null) throw unsupported(`${path}.audio`, 'audio output');
  const { content, refusal, tool_calls: calls = [], reasoning_details: blocks } = message;
  const said =
    typeof content === 'string'
      ? content
      : (content ?? []).map((part) => (part.type === 'text' ? part.text : part.refusal)).join('\n');
  const text = said === '' ? (refusal ?? '') : said;
  return [
    ...(blocks ?? []).map(
      (block): ModelContent => ({ type: 'thinking', block: fromWireThinking(block as ThinkingBlock) }),
    ),
    ...(text === '' && (calls?.length ?? 0) > 0 ? [] : [{ type: 'text' as const, text }]),
    ...(calls ?? []).map(
      ({ id, function: called }, position): ModelContent => ({
        type: 'tool_use',
        id,
        name: called.name,
        input: parseArguments(called.arguments, `${path}.tool_calls.${position}.function.arguments`),
      }),
    ),
  ];
}
