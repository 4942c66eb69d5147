import { ApiError } from '@questline/core';
import type { Responses, StoredResponse } from '@questline/core/internal';
import { issue } from '../errors.ts';
import type { ResponseBody } from './contract.ts';
import type { InputItem, WholeItem } from './contract-items.ts';
import { readItemOwner, readResponseId } from './ids.ts';
import { getItems, isReferable, readWire, type StoredItem } from './stored-wire.ts';

/** Characters of the items of one conversation. The body of a request has the same limit. */
const MAX_CHARACTERS = 25 * 2 ** 20;
const MAX_EARLIER = 1000;
const MAX_REFERENCED = 200;

/** The items of a request, with those of earlier responses that it continues. */
export interface History {
  /** Items of earlier responses, oldest first. */
  readonly before: readonly WholeItem[];
  /** The items of the request. A reference is replaced by its item, which keeps its id. */
  readonly own: readonly { readonly id?: string; readonly item: WholeItem }[];
  /** Ids of the earlier responses, oldest first. */
  readonly earlier: readonly string[];
  /** Characters of all items. */
  readonly size: number;
}

/** The items of the conversation that a request continues. */
export interface ContinuedHistory {
  /** Characters of its items. */
  readonly size: number;
  /** @throws ApiError 400 if it has no room for the items of the request. */
  load(items: number, characters: number): Promise<readonly WholeItem[]>;
}

/**
 * Reads what a request refers to.
 * @throws ApiError 400 `previous_response_not_found`, or for a response that cannot be continued; 404 for an unknown item.
 */
export async function loadHistory(
  responses: Responses,
  userId: string,
  { input, previous_response_id: previousId }: ResponseBody,
  conversation?: ContinuedHistory,
): Promise<History> {
  const items: readonly InputItem[] =
    typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input;
  const own = await resolveReferences(responses, userId, items);
  const ownSize = JSON.stringify(own).length;
  if (conversation !== undefined) {
    const size = conversation.size + ownSize;
    // A conversation has each item once, so that one that was referred to becomes a new item.
    const added = own.map(({ item }) => ({ item }));
    return { before: await conversation.load(own.length, ownSize), own: added, earlier: [], size };
  }
  if (previousId == null) return { before: [], own, earlier: [], size: ownSize };
  const previous = await findPrevious(responses, userId, previousId);
  const size = readWire(previous).size + JSON.stringify(previous.output.parts).length + ownSize;
  if (size > MAX_CHARACTERS || previous.earlier.length >= MAX_EARLIER) {
    throw cannotContinue('the conversation is too long; begin a new one with a summary');
  }
  const chain = [...(await responses.findAll(userId, previous.earlier)), previous];
  const earlier = [...previous.earlier, previous.id];
  if (chain.length < earlier.length) throw cannotContinue('an earlier response of it was deleted');
  return { before: chain.flatMap(getItems).map(({ item }) => item), own, earlier, size };
}

async function findPrevious(
  responses: Responses,
  userId: string,
  previousId: string,
): Promise<StoredResponse> {
  const id = readResponseId(previousId);
  const previous = id === undefined ? undefined : await responses.find(userId, id);
  if (previous === undefined || !isReferable(previous)) {
    const message = `Previous response with id '${previousId}' not found.`;
    throw new ApiError(400, message, {
      extra: { code: 'previous_response_not_found' },
      details: [{ path: 'previous_response_id', message }],
    });
  }
  if (readWire(previous).request.conversation !== null) {
    throw cannotContinue('the response belongs to a conversation; continue that with conversation');
  }
  if (previous.status === 'completed') return previous;
  throw cannotContinue(
    previous.status === 'queued' || previous.status === 'in_progress'
      ? 'the response has not ended yet'
      : `the response was ${previous.status === 'failed' ? 'not completed' : 'cancelled'}`,
  );
}

/** Replaces references by their items. @param field the list that has them. */
export async function resolveReferences(
  responses: Responses,
  userId: string,
  items: readonly InputItem[],
  field = 'input',
): Promise<History['own']> {
  const owners = new Set(
    items.flatMap((item) => (item.type === 'item_reference' ? (readItemOwner(item.id) ?? []) : [])),
  );
  if (owners.size > MAX_REFERENCED) {
    throw issue(field, `expected references to at most ${MAX_REFERENCED} responses`);
  }
  const found = owners.size === 0 ? [] : await responses.findAll(userId, [...owners]);
  const known = new Map<string, StoredItem>(
    found.filter(isReferable).flatMap((response) => getItems(response).map((one) => [one.id, one] as const)),
  );
  return items.map((item, index) => {
    if (item.type !== 'item_reference') return { item };
    const stored = known.get(item.id);
    if (stored !== undefined) return stored;
    const message = `Item with id '${item.id.slice(0, 200)}' not found. Items of responses with store set to false are not stored.`;
    throw new ApiError(404, message, { details: [{ path: `${field}.${index}.id`, message }] });
  });
}

function cannotContinue(message: string): ApiError {
  return issue('previous_response_id', message);
}
