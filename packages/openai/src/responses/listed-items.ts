import type { InputPart, MessageItem } from './contract-items.ts';
import type { StoredItem } from './stored-wire.ts';

/** An item in the form of `input_items`. */
export type ListedItem = { readonly id: string } & Readonly<Record<string, unknown>>;

type Part = Exclude<MessageItem['content'], string>[number];

export function toListedItem({ id, item }: StoredItem): ListedItem {
  switch (item.type) {
    case 'message': {
      const { role, content, status = 'completed', ...rest } = item;
      const isAssistant = role === 'assistant';
      const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
      const listed = parts.map((part) => toListedPart(part, isAssistant));
      return { ...rest, id, type: 'message', status: status ?? 'completed', role, content: listed };
    }
    case 'reasoning': {
      const { encrypted_content: encrypted } = item;
      return {
        id,
        type: 'reasoning',
        summary: item.summary ?? [],
        ...(encrypted != null && { encrypted_content: encrypted }),
      };
    }
    case 'tool_search_call':
    case 'tool_search_output':
      return { ...item, id, status: 'completed', execution: 'client' };
    case 'additional_tools':
      return { ...item, id, role: 'developer' };
    case 'other':
      return { ...(item.value as object), id };
    default:
      return { status: 'completed', ...item, id };
  }
}

function toListedPart(part: Part, isAssistant: boolean): Readonly<Record<string, unknown>> {
  if (part.type === 'refusal') return part;
  if (part.type === 'output_text' || (part.type === 'text' && isAssistant)) {
    return { annotations: [], logprobs: [], ...part, type: 'output_text' };
  }
  return toInputPart(part);
}

function toInputPart(part: InputPart): Readonly<Record<string, unknown>> {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'input_image':
      return { ...part, detail: part.detail ?? 'auto' };
    default:
      return part;
  }
}
