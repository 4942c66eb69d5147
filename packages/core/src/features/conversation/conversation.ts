import { estimateInput, promptSize } from '../../credits/estimates.ts';
import { wrapContext } from '../../models/turn-context.ts';
import type { ModelContent, ModelMessage } from '../../ports/models.ts';
import type { MessageRecord } from '../sessions/records.ts';

/** The parts of a conversation. */
export interface ConversationParts {
  /** System text that is the same in every turn. */
  readonly systemText: string;
  /** System text of this turn only: it is placed with the last message, so that the beginning stays the same. */
  readonly turnText: string;
  readonly history: readonly Pick<MessageRecord, 'role' | 'content'>[];
  readonly message: string;
  readonly attachments: readonly ModelContent[];
}

/** Builds the messages for the model, with a cache breakpoint where the beginning stays the same in the next turn. */
export function toConversation(parts: ConversationParts): ModelMessage[] {
  const { systemText, turnText, history, message, attachments } = parts;
  const content: ModelContent[] = [...attachments];
  if (turnText !== '') content.push({ type: 'text', text: wrapContext(turnText) });
  if (message !== '' || attachments.length === 0) content.push({ type: 'text', text: message });
  const isKept = turnText === '' && attachments.length === 0;
  return [
    ...(systemText === '' ? [] : [said('system', systemText)]),
    ...history.map(({ role, content: text }, place) => ({
      ...said(role, text),
      ...(place === history.length - 1 && { cacheBreakpoint: true }),
    })),
    { role: 'user', content, ...(isKept && { cacheBreakpoint: true }) },
  ];
}

/** Sets cache breakpoints at the end of the last round and of the round before it. */
export function markRound(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const last = messages.length - 1;
  return messages.map((message, place) =>
    place === last || (place === last - 2 && message.role === 'user')
      ? { ...message, cacheBreakpoint: true }
      : message,
  );
}

/**
 * Leaves out the oldest messages until the rest fits, in blocks that grow with the conversation, so that its beginning
 * does not change with each message. Always keeps the system text, the last user message and the last round of tools.
 * A cut history begins with a user message, and contains each tool round as a whole.
 * @param limit tokens.
 */
export function fitConversation(messages: readonly ModelMessage[], limit: number): readonly ModelMessage[] {
  const head = messages.filter(({ role }) => role === 'system');
  const rest = messages.slice(head.length);
  const asked = rest.findLastIndex(isUsersWord);
  const rounds = rest.slice(asked + 1);
  const earlier = rest.slice(0, Math.max(asked, 0));
  const always = [...head, ...rest.slice(Math.max(asked, 0), asked + 1)];
  let left = limit - getSize([...always, ...rounds.slice(-2)]);
  let firstRound = Math.max(0, rounds.length - 2);
  while (firstRound > 0) {
    left -= getSize(rounds.slice(Math.max(0, firstRound - 2), firstRound));
    if (left < 0) return [...always, ...rounds.slice(cutInBlocks(firstRound, rounds.length, 2))];
    firstRound = Math.max(0, firstRound - 2);
  }
  let from = earlier.length;
  for (const message of earlier.toReversed()) {
    left -= getSize([message]);
    if (left < 0) break;
    from -= 1;
  }
  if (from === 0) return messages;
  from = cutInBlocks(from, earlier.length, 2);
  while (from < earlier.length && !isUsersWord(earlier[from])) from += 1;
  return [...head, ...earlier.slice(from), ...rest.slice(Math.max(asked, 0))];
}

/** Moves a cut to the end of its block. Blocks are an eighth to a quarter of the whole. */
function cutInBlocks(place: number, length: number, least: number): number {
  const block = Math.max(least, 2 ** Math.floor(Math.log2(Math.max(1, length / 4))));
  const moved = Math.ceil(place / block) * block;
  // The last round stays, whatever the block size.
  return Math.min(moved, Math.max(place, length - least));
}

function isUsersWord(message: ModelMessage | undefined): boolean {
  return message?.role === 'user' && message.content.every(({ type }) => type !== 'tool_result');
}

function getSize(messages: readonly ModelMessage[]): number {
  return estimateInput(promptSize({ messages }));
}

function said(role: ModelMessage['role'], text: string): ModelMessage {
  return { role, content: [{ type: 'text', text }] };
}
