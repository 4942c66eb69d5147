import type { InputPart, MessageItem } from './contract-items.ts';
import type { StoredItem } from './stored-wire.ts';

/** An item in the form of `input_items`. */
export type ListedItem = { readonly id: string } & Readonly<Record<string, unknown>>;

type Part = Exclude<MessageItem['content'], string>[number];

const STATUSES: readonly unknown[] = ['in_progress', 'completed', 'incomplete'];
const CALL_STATUSES: readonly unknown[] = [...STATUSES, 'calling', 'failed'];
const PHASES: readonly unknown[] = ['commentary', 'final_answer'];
const DETAILS: readonly unknown[] = ['low', 'high', 'auto', 'original'];

/** Values that only describe an item are read loosely, and listed as their type allows. */
export function toListedItem({ id, item }: StoredItem): ListedItem {
  switch (item.type) {
    case 'message': {
      const { role, content, status, phase, ...rest } = item;
      const isAssistant = role === 'assistant';
      const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
      const listed = parts.map((part) => toListedPart(part, isAssistant));
      return {
        ...rest,
        ...(PHASES.includes(phase) && { phase }),
        id,
        status: STATUSES.includes(status) ? status : 'completed',
        role,
        content: listed,
      };
    }
    case 'reasoning': {
      const { encrypted_content: encrypted } = item;
      return {
        id,
        type: 'reasoning',
        summary: toObjects(item.summary),
        ...(encrypted != null && { encrypted_content: encrypted }),
      };
    }
    case 'tool_search_call':
    case 'tool_search_output':
      return { ...item, id, status: 'completed', execution: 'client' };
    case 'mcp_list_tools':
    case 'mcp_approval_request':
    case 'mcp_approval_response':
      return { ...item, id };
    case 'mcp_call':
      return { ...item, id, status: CALL_STATUSES.includes(item.status) ? item.status : 'completed' };
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
  const isText = part.type === 'text' || part.type === 'input_text';
  if (part.type === 'output_text' || (isText && isAssistant)) {
    const { annotations, logprobs, ...rest }: Readonly<Record<string, unknown>> = part;
    return {
      ...rest,
      type: 'output_text',
      annotations: toObjects(annotations),
      logprobs: toObjects(logprobs),
    };
  }
  return toInputPart(part);
}

function toInputPart(part: InputPart): Readonly<Record<string, unknown>> {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'input_image':
      return { ...part, detail: DETAILS.includes(part.detail) ? part.detail : 'auto' };
    default:
      return part;
  }
}

/** The entries of a list of objects; of another value, none. */
function toObjects(value: unknown): readonly object[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'object' && entry !== null) : [];
}
