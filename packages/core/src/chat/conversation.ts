import { estimateInput, promptSize } from '../credits/estimates.ts';
import type { ModelContent, ModelInfo, ModelMessage } from '../ports/models.ts';
import type { Collection } from '../ports/store.ts';
import type { MessageRecord, SessionRecord } from '../sessions/records.ts';

const MOST_MESSAGES = 1000;

/** Tokens a model may be given, when so many are kept free for its answer. Never less than a quarter of what it can hold. */
export function inputLimit({ contextWindow }: ModelInfo, maxTokens: number): number {
  if (contextWindow <= 0) return Number.POSITIVE_INFINITY;
  return Math.max(contextWindow - maxTokens, Math.floor(contextWindow / 4));
}

/** The newest messages of a session, oldest first. */
export async function recentMessages(
  messages: Collection<MessageRecord>,
  session: SessionRecord,
  count: number,
): Promise<readonly MessageRecord[]> {
  const newest = await messages.find(
    { sessionId: session.id, ownerId: session.ownerId },
    { order: { field: 'createdAt', direction: 'desc' }, limit: Math.min(Math.ceil(count), MOST_MESSAGES) },
  );
  return newest.toReversed();
}

/** The conversation as a model is given it. */
export function toConversation(
  system: string,
  history: readonly MessageRecord[],
  message: string,
  attachments: readonly ModelContent[],
): ModelMessage[] {
  const content: ModelContent[] = [...attachments];
  if (message !== '' || content.length === 0) content.push({ type: 'text', text: message });
  return [
    ...(system === '' ? [] : [said('system', system)]),
    ...history.map((record) => said(record.role, record.content)),
    { role: 'user', content },
  ];
}

/**
 * Leaves out the oldest messages until the rest fits. The system text, the last word of the user and the last round of
 * tools always stay; what is kept of the others begins with a user's word, and no round of tools is cut in two.
 * @param limit tokens.
 */
export function fitConversation(messages: readonly ModelMessage[], limit: number): readonly ModelMessage[] {
  const head = messages.filter(({ role }) => role === 'system');
  const rest = messages.slice(head.length);
  const asked = rest.findLastIndex(isUsersWord);
  const rounds = rest.slice(asked + 1);
  const earlier = rest.slice(0, Math.max(asked, 0));
  const always = [...head, ...rest.slice(Math.max(asked, 0), asked + 1)];
  let left = limit - sizeOf([...always, ...rounds.slice(-2)]);
  let firstRound = Math.max(0, rounds.length - 2);
  while (firstRound > 0) {
    left -= sizeOf(rounds.slice(Math.max(0, firstRound - 2), firstRound));
    if (left < 0) return [...always, ...rounds.slice(firstRound)];
    firstRound = Math.max(0, firstRound - 2);
  }
  let from = earlier.length;
  for (const message of earlier.toReversed()) {
    left -= sizeOf([message]);
    if (left < 0) break;
    from -= 1;
  }
  while (from < earlier.length && !isUsersWord(earlier[from])) from += 1;
  return from === 0 ? messages : [...head, ...earlier.slice(from), ...rest.slice(Math.max(asked, 0))];
}

function isUsersWord(message: ModelMessage | undefined): boolean {
  return message?.role === 'user' && message.content.every(({ type }) => type !== 'tool_result');
}

function sizeOf(messages: readonly ModelMessage[]): number {
  return estimateInput(promptSize({ messages }));
}

function said(role: ModelMessage['role'], text: string): ModelMessage {
  return { role, content: [{ type: 'text', text }] };
}
