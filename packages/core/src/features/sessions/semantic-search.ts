import type { CallOptions } from '../../ports/options.ts';
import type { Collection, Store } from '../../ports/store.ts';
import { cosine, hasDirection, toDirection } from '../../ports/vectors.ts';
import { canReadSession } from './access.ts';
import { MESSAGES, type MessageRecord, SESSIONS, type SessionRecord } from './records.ts';
import { firstCharacters } from './sessions.ts';

export const MAX_SEARCHED_SESSIONS = 100;
export const MAX_SEARCHED_MESSAGES = 200;
/** Code points of one text. */
export const MAX_TEXT = 1000;

/** Maximum messages of one session, so that a long session leaves room for others. */
const MAX_PER_SESSION = 20;
/** Messages of one read: a message can be as long as a request. */
const PAGE = 25;
const MAX_PAGES = 20;

/** A text of a session that a query is compared with. */
export interface SearchedText {
  readonly session: SessionRecord;
  readonly isMessage: boolean;
  readonly text: string;
}

export interface SessionScore {
  readonly sessionId: string;
  readonly sessionName: string;
  readonly maxSimilarity: number;
  readonly matchingMessages: number;
}

/** Returns the texts of the sessions that a user can read, the sessions that changed last first. */
export async function findSearchedTexts(
  store: Store,
  userId: string,
  options: CallOptions,
): Promise<SearchedText[]> {
  const sessions = await store.collection(SESSIONS).find(canReadSession(userId), {
    ...options,
    order: { field: 'lastUpdated', direction: 'desc' },
    limit: MAX_SEARCHED_SESSIONS,
  });
  if (sessions.length === 0) return [];
  const titles = sessions.map((session) => toText(session, false, describe(session)));
  const messages = await findMessages(store.collection(MESSAGES), sessions, options);
  return [...titles, ...messages].filter(({ text }) => text.trim() !== '');
}

async function findMessages(
  messages: Collection<MessageRecord>,
  sessions: readonly SessionRecord[],
  options: CallOptions,
): Promise<SearchedText[]> {
  const byId = new Map(sessions.map((session) => [session.id, session]));
  const counts = new Map<string, number>();
  const texts: SearchedText[] = [];
  let after: { readonly value: number; readonly id: string } | undefined;
  for (let page = 0; page < MAX_PAGES && texts.length < MAX_SEARCHED_MESSAGES; page += 1) {
    const open = sessions.flatMap(({ id }) => ((counts.get(id) ?? 0) < MAX_PER_SESSION ? [id] : []));
    const rows = await messages.find(
      { sessionId: { in: open } },
      {
        ...options,
        order: { field: 'createdAt', direction: 'desc' },
        limit: PAGE,
        ...(after !== undefined && { after }),
      },
    );
    for (const { sessionId, content } of rows) {
      const session = byId.get(sessionId);
      const count = counts.get(sessionId) ?? 0;
      if (session === undefined || count === MAX_PER_SESSION || texts.length === MAX_SEARCHED_MESSAGES)
        continue;
      counts.set(sessionId, count + 1);
      texts.push(toText(session, true, content));
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) break;
    after = { value: last.createdAt, id: last.id };
  }
  return texts;
}

function describe({ name, summary }: SessionRecord): string {
  return summary === undefined ? name : `${name}\n${summary}`;
}

function toText(session: SessionRecord, isMessage: boolean, text: string): SearchedText {
  return { session, isMessage, text: firstCharacters(text, MAX_TEXT).toWellFormed() };
}

/**
 * Returns the sessions with a text of at least `minSimilarity`, the most similar one first.
 * @param vectors of `texts`, in the same order and of the same length as `query`.
 */
export function rankSessions(
  query: readonly number[],
  texts: readonly SearchedText[],
  vectors: readonly (readonly number[])[],
  { limit, minSimilarity }: { readonly limit: number; readonly minSimilarity: number },
): SessionScore[] {
  if (!hasDirection(query)) return [];
  const direction = toDirection(query);
  const scores = new Map<string, SessionScore>();
  texts.forEach(({ session, isMessage }, index) => {
    const vector = vectors[index];
    if (vector === undefined || !hasDirection(vector)) return;
    const similarity = cosine(direction, toDirection(vector));
    if (similarity < minSimilarity) return;
    const { maxSimilarity = similarity, matchingMessages = 0 } = scores.get(session.id) ?? {};
    scores.set(session.id, {
      sessionId: session.id,
      sessionName: session.name,
      maxSimilarity: Math.max(maxSimilarity, similarity),
      matchingMessages: matchingMessages + (isMessage ? 1 : 0),
    });
  });
  return [...scores.values()].sort((a, b) => b.maxSimilarity - a.maxSimilarity).slice(0, limit);
}
