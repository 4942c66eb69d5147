import type { LanguageModelV4FilePart, LanguageModelV4Message } from '@ai-sdk/provider';
import { type GenerateRequest, type ModelContent, ProviderError } from '@questline/core';
import { type Restored, restore } from './blocks.ts';

type Assistant = Extract<LanguageModelV4Message, { role: 'assistant' }>;
type User = Extract<LanguageModelV4Message, { role: 'user' }>;
type Tool = Extract<LanguageModelV4Message, { role: 'tool' }>;

/**
 * The conversation in the SDK's words. System messages go to the front, because many vendors take them nowhere else.
 * @param vendor the model's `provider`.
 * @throws ProviderError `invalid_request` for content that has no place: a model that never saw it would answer all the same.
 */
export function promptOf(messages: GenerateRequest['messages'], vendor: string): LanguageModelV4Message[] {
  const front: LanguageModelV4Message[] = [];
  const rest: LanguageModelV4Message[] = [];
  for (const { role, content } of messages) {
    if (role === 'system') front.push({ role, content: systemText(content) });
    else if (role === 'user') rest.push(...userMessages(content));
    else rest.push(assistantMessage(content, vendor));
  }
  return [...front, ...rest].filter((message) => message.content.length > 0);
}

function systemText(content: readonly ModelContent[]): string {
  return content
    .map((piece) => (piece.type === 'text' ? piece.text : misplaced(piece, 'system')))
    .join('\n\n');
}

/** Results of tools are a message of their own, and stand right behind the calls. */
function userMessages(content: readonly ModelContent[]): (User | Tool)[] {
  const results: Tool['content'] = [];
  const parts: User['content'] = [];
  for (const piece of content) {
    if (piece.type === 'tool_result') {
      results.push({
        type: 'tool-result',
        toolCallId: piece.toolUseId,
        toolName: piece.toolName,
        output: { type: piece.isError ? 'error-text' : 'text', value: piece.content },
      });
    } else if (piece.type === 'text') {
      if (piece.text !== '') parts.push({ type: 'text', text: piece.text });
    } else if (piece.type === 'image') {
      parts.push(filePart(piece.mediaType, piece.data));
    } else if (piece.type === 'document') {
      const text = documentText(piece);
      if (text === undefined) parts.push({ ...filePart(piece.mediaType, piece.data), filename: piece.name });
      // Hardly any vendor takes textual files, and all of them take text.
      else parts.push({ type: 'text', text: `${piece.name}:\n\n${text}` });
    } else misplaced(piece, 'user');
  }
  return [
    { role: 'tool', content: results },
    { role: 'user', content: parts },
  ];
}

function assistantMessage(content: readonly ModelContent[], vendor: string): Assistant {
  for (const piece of content) {
    if (!['text', 'tool_use', 'thinking'].includes(piece.type)) misplaced(piece, 'assistant');
  }
  return {
    role: 'assistant',
    content: restore(content, vendor).map(assistantPart),
  };
}

function assistantPart({ content, providerMetadata }: Restored): Assistant['content'][number] {
  const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
  if (content.type === 'text') return { type: 'text', text: content.text, ...options };
  if (content.type === 'thinking') return { type: 'reasoning', text: content.thinking, ...options };
  const { id: toolCallId, name: toolName, input } = content;
  return { type: 'tool-call', toolCallId, toolName, input: input ?? {}, ...options };
}

function filePart(mediaType: string, data: string): LanguageModelV4FilePart {
  return { type: 'file', mediaType, data: { type: 'data', data } };
}

function documentText(document: Extract<ModelContent, { type: 'document' }>): string | undefined {
  const type = document.mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const textual = type.startsWith('text/') || type === 'application/json' || type === 'application/xml';
  return textual ? Buffer.from(document.data, 'base64').toString('utf8') : undefined;
}

function misplaced(piece: ModelContent, role: string): never {
  throw new ProviderError('invalid_request', `${piece.type} has no place in a message of the ${role}`);
}
