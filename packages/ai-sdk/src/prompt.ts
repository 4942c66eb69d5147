import type { LanguageModelV4FilePart, LanguageModelV4Message } from '@ai-sdk/provider';
import { type GenerateRequest, type ModelContent, ProviderError } from '@questline/core/ports';
import { type Restored, restore } from './blocks.ts';
import { breakpoint, getBreakpoints } from './caching.ts';

type Assistant = Extract<LanguageModelV4Message, { role: 'assistant' }>;
type User = Extract<LanguageModelV4Message, { role: 'user' }>;
type Tool = Extract<LanguageModelV4Message, { role: 'tool' }>;

/** Precedes a conversation that begins with an answer, for vendors that require the user to begin. */
const LEFT_OUT = '(The beginning of this conversation is left out.)';

/**
 * Converts the conversation to an SDK prompt. System messages move to the front: most vendors allow them only there.
 * @param vendor the model's `provider`.
 * @param caches whether the vendor takes prompt cache breakpoints.
 * @throws ProviderError `invalid_request` for content that cannot be converted: without it, the answer would be wrong.
 */
export function toPrompt(
  request: GenerateRequest,
  vendor: string,
  caches: boolean,
): LanguageModelV4Message[] {
  const front: LanguageModelV4Message[] = [];
  const rest: LanguageModelV4Message[] = [];
  const breakpoints = caches ? getBreakpoints(request) : undefined;
  for (const [place, { role, content }] of request.messages.entries()) {
    const said: LanguageModelV4Message[] = (
      role === 'system'
        ? [{ role: 'system' as const, content: systemText(content) }]
        : role === 'user'
          ? userMessages(content)
          : [assistantMessage(content, vendor)]
    ).filter((message) => message.content.length > 0);
    const last = said.at(-1);
    if (last !== undefined && breakpoints?.has(place) === true) {
      said[said.length - 1] = { ...last, providerOptions: breakpoint(request) };
    }
    (role === 'system' ? front : rest).push(...said);
  }
  if (rest[0]?.role === 'assistant' && /anthropic|bedrock|google|vertex/.test(vendor)) {
    rest.unshift({ role: 'user', content: [{ type: 'text', text: LEFT_OUT }] });
  }
  return [...front, ...rest];
}

function systemText(content: readonly ModelContent[]): string {
  return content
    .map((piece) => (piece.type === 'text' ? piece.text : misplaced(piece, 'system')))
    .join('\n\n');
}

/** Tool results form a message of their own, directly after the calls. */
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
      // Few vendors accept text files; all accept text.
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
  const type = document.mediaType.split(';')[0]?.trim().toLowerCase() ?? '';
  const textual = type.startsWith('text/') || type === 'application/json' || type === 'application/xml';
  return textual ? Buffer.from(document.data, 'base64').toString('utf8') : undefined;
}

function misplaced(piece: ModelContent, role: string): never {
  throw new ProviderError('invalid_request', `${piece.type} is not allowed in a ${role} message`);
}
