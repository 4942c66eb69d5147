import { issue } from '../errors.ts';
import type { WholeItem } from './contract-items.ts';
import { type EarlierItems, toItemPath } from './item-path.ts';
import { readRecord, type ServerCallRecord } from './server-items.ts';

/* What became of the calls that waited for the approval of the user. */

type ItemOf<T extends WholeItem['type']> = Extract<WholeItem, { type: T }>;

/** A call that was approved and has not run. */
export interface PendingApproval {
  /** Of the request for approval. */
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  readonly arguments: string;
  /** Of the decision. */
  readonly path: string;
}

export interface Approvals {
  readonly pending: readonly PendingApproval[];
  /** The result of a call for the model. Pending calls have one that is replaced before the model is called. */
  getResult(requestId: string): CallResult;
  /** Whether the conversation has this request, at whose place the result of the call stands. */
  has(requestId: string): boolean;
}

export type CallResult = Pick<ServerCallRecord, 'content' | 'isError'>;

interface Decision {
  readonly item: ItemOf<'mcp_approval_response'>;
  readonly index: number;
  readonly path: string;
}

const ANSWERS: readonly WholeItem['type'][] = [
  'function_call',
  'custom_tool_call',
  'tool_search_call',
  'web_search_call',
  'file_search_call',
  'mcp_call',
];

const NOT_DECIDED = { content: 'The user has not approved this call. It has not run.', isError: true };
const NOT_RUN = { content: 'The call has not run.', isError: true };

/** @throws ApiError 400 for a decision about an unknown call. */
export function readApprovals(items: readonly WholeItem[], earlier: EarlierItems): Approvals {
  const requests = new Map<string, ItemOf<'mcp_approval_request'>>();
  const results = new Map<string, CallResult>();
  const decisions = new Map<string, Decision>();
  /** The place of the last item of an answer: decisions before it have been used. */
  let answered = earlier.count - 1;
  for (const [index, item] of items.entries()) {
    const path = toItemPath(index, earlier);
    if (isAnswer(item)) answered = Math.max(answered, index);
    switch (item.type) {
      case 'mcp_approval_request':
        requests.set(item.id, item);
        break;
      case 'mcp_approval_response': {
        const id = item.approval_request_id;
        if (!requests.has(id)) {
          throw issue(`${path}.approval_request_id`, 'no mcp_approval_request before it has this id');
        }
        // The first decision counts.
        if (!decisions.has(id)) decisions.set(id, { item, index, path });
        break;
      }
      case 'mcp_call':
        if (item.approval_request_id != null) results.set(item.approval_request_id, toCallResult(item));
        break;
      case 'reasoning': {
        const record = readRecord(item);
        if (record?.approvalId !== undefined) results.set(record.approvalId, record);
        break;
      }
      default:
        break;
    }
  }
  const pending = [...decisions].flatMap(([id, { item, index, path }]): PendingApproval[] => {
    const request = requests.get(id);
    if (request === undefined || !item.approve || results.has(id) || index < answered) return [];
    const { server_label: server, name: tool, arguments: json } = request;
    return [{ id, server, tool, arguments: json, path }];
  });
  return {
    pending,
    has: (id) => requests.has(id),
    getResult(id) {
      const decision = decisions.get(id)?.item;
      if (decision === undefined) return results.get(id) ?? NOT_DECIDED;
      if (decision.approve) return results.get(id) ?? NOT_RUN;
      const reason = decision.reason == null ? '' : ` Reason: ${decision.reason}`;
      return { content: `The user has refused this call. It has not run.${reason}`, isError: true };
    },
  };
}

function isAnswer(item: WholeItem): boolean {
  return item.type === 'message' ? item.role === 'assistant' : ANSWERS.includes(item.type);
}

/** The result that a record of a call contains. */
export function toCallResult({ output, error }: ItemOf<'mcp_call'>): CallResult {
  if (error != null) return { content: toText(error), isError: true };
  return output == null ? NOT_RUN : { content: output, isError: false };
}

/** Earlier versions of the SDK have a text. */
function toText(error: NonNullable<ItemOf<'mcp_call'>['error']>): string {
  if (typeof error === 'string') return error;
  const { message, content } = error;
  if (typeof message === 'string') return message;
  const parts = Array.isArray(content) ? (content as readonly unknown[]) : [];
  const texts = parts.map((part) => (part as { readonly text?: unknown } | null)?.text);
  return texts.filter((text) => typeof text === 'string').join('\n') || 'The tool failed.';
}
