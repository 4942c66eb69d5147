import type { ModelContent, ModelMessage } from '../../ports/models.ts';
import { invalid } from '../../shared/errors.ts';
import type { CompletionMessage, CompletionPart } from './contract.ts';
import { fromWireThinking } from './thinking.ts';

/**
 * Converts the conversation to the form for providers.
 * @throws ApiError 422 for a tool result without an earlier call.
 */
export function toModelMessages(messages: readonly CompletionMessage[]): ModelMessage[] {
  const toolNames = new Map<string, string>();
  return messages.map((message, index) => ({
    role: message.role,
    ...(isMarked(message) && { cacheBreakpoint: true }),
    content:
      typeof message.content === 'string'
        ? [{ type: 'text', text: message.content }]
        : message.content.map((part, position) =>
            toModelContent(part, toolNames, `messages.${index}.content.${position}`),
          ),
  }));
}

const isBreakpoint = (part: object): boolean => 'cache_control' in part && part.cache_control !== undefined;

/** Whether a part is a cache breakpoint, also inside the result of a tool. */
function isMarked({ content }: { readonly content: string | readonly CompletionPart[] }): boolean {
  return (
    typeof content !== 'string' &&
    content.some((part) => isBreakpoint(part) || (part.type === 'tool_result' && isMarked(part)))
  );
}

function toModelContent(part: CompletionPart, toolNames: Map<string, string>, path: string): ModelContent {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image', mediaType: part.source.media_type, data: part.source.data };
    case 'image_url':
      return toImage(part.image_url.url);
    case 'input_image':
      return toImage(part.image_url);
    case 'tool_use':
      toolNames.set(part.id, part.name);
      return part;
    case 'tool_result': {
      const toolName = toolNames.get(part.tool_use_id);
      if (toolName === undefined) {
        throw invalid(`${path}.tool_use_id`, 'no earlier tool_use part has this id');
      }
      const content =
        typeof part.content === 'string' ? part.content : part.content.map(({ text }) => text).join('\n');
      return {
        type: 'tool_result',
        toolUseId: part.tool_use_id,
        toolName,
        content,
        isError: part.is_error ?? false,
      };
    }
    case 'thinking':
    case 'redacted_thinking':
      return { type: 'thinking', block: fromWireThinking(part) };
  }
}

/** Parses `data:<type>;base64,<data>`, which the contract has validated. */
function toImage(url: string): ModelContent {
  const comma = url.indexOf(',');
  return { type: 'image', mediaType: url.slice(5, url.indexOf(';')), data: url.slice(comma + 1) };
}
