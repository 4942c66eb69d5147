import { createFakeClock } from '@questline/testing';
import { expect, it } from 'vitest';
import { createMemoryStore } from '../../memory/store.ts';
import { MESSAGES, type MessageRecord, type SessionRecord } from './records.ts';
import { getLastNumber, recentMessages } from './session.ts';

const session = { id: 'session', ownerId: 'owner' } as SessionRecord;

/** A session with messages of these numbers, oldest first. */
async function fill(numbers: readonly (number | undefined)[]) {
  const clock = createFakeClock();
  const messages = createMemoryStore().collection(MESSAGES);
  for (const [at, number] of numbers.entries()) {
    const message: MessageRecord = {
      id: `message ${String(at + 1).padStart(3, '0')}`,
      sessionId: session.id,
      ownerId: session.ownerId,
      role: 'user',
      content: `${at + 1}`,
      createdAt: clock.now() + at,
      ...(number !== undefined && { number }),
    };
    await messages.insert(message);
  }
  let counts = 0;
  let reads = 0;
  const counting: typeof messages = {
    ...messages,
    count(...given) {
      counts += 1;
      return messages.count(...given);
    },
    find(...given) {
      reads += 1;
      return messages.find(...given);
    },
  };
  const all = await messages.find({}, { order: { field: 'createdAt', direction: 'asc' } });
  /** @param known how many of the newest messages are read already. */
  const read = async (count?: number, { before, known }: { before?: number; known?: number } = {}) => {
    const newest = known === undefined ? undefined : all.slice(-known).toReversed();
    const place = before === undefined ? undefined : all[before - 1];
    const { messages: found, last } = await recentMessages(counting, session, count, place, newest);
    return { first: Number(found[0]?.content ?? 0), length: found.length, last };
  };
  return { messages: counting, all, read, getCounts: () => counts, getReads: () => reads };
}

const from = (first: number, length: number) => Array.from({ length }, (_, at) => first + at);

it('begins the history at the same message for ten messages', async () => {
  const begins = new Map<number, number>();
  for (let length = 20; length < 50; length += 1) {
    const { read, getCounts } = await fill(from(1, length));
    const { first, length: found, last } = await read();
    expect([first + found - 1, last, getCounts()]).toEqual([length, length, 0]);
    expect(found).toBeGreaterThanOrEqual(10);
    expect(found).toBeLessThan(20);
    begins.set(first, (begins.get(first) ?? 0) + 1);
  }
  expect([...begins]).toEqual([
    [11, 10],
    [21, 10],
    [31, 10],
  ]);
});

it('keeps the beginning of the history when older messages are deleted', async () => {
  const whole = await fill(from(1, 47));
  const rest = await fill(from(18, 30));
  expect((await whole.read()).length).toBe(17);
  expect((await rest.read()).length).toBe(17);
});

it('counts messages without a number once', async () => {
  const { read, getCounts } = await fill(from(1, 34).map(() => undefined));
  expect(await read()).toEqual({ first: 21, length: 14, last: 34 });
  expect(getCounts()).toBe(1);
  const next = await fill([...from(1, 34).map(() => undefined), 35, 36]);
  expect(await next.read()).toEqual({ first: 21, length: 16, last: 36 });
  expect(next.getCounts()).toBe(0);
});

it('needs no number of a session that it reads whole', async () => {
  const { read, getCounts } = await fill([undefined, undefined, undefined]);
  expect(await read()).toEqual({ first: 1, length: 3, last: 3 });
  expect(await (await fill([])).read()).toEqual({ first: 0, length: 0, last: 0 });
  expect(getCounts()).toBe(0);
});

it('does not know the number after a shorter list of messages without one', async () => {
  const { read, getCounts } = await fill(from(1, 12).map(() => undefined));
  expect(await read(4)).toEqual({ first: 9, length: 4, last: undefined });
  expect(await (await fill(from(1, 12))).read(4)).toEqual({ first: 9, length: 4, last: 12 });
  expect(getCounts()).toBe(0);
});

it('returns at least ten messages of turns that ran at once and share their numbers', async () => {
  const { read } = await fill(Array.from({ length: 15 }, () => [1, 2]).flat());
  expect((await read()).length).toBe(12);
});

it('finds the number of the newest message', async () => {
  const numbered = await fill([7, 8]);
  expect([await getLastNumber(numbered.messages, session), numbered.getCounts()]).toEqual([8, 0]);
  const unknown = await fill([undefined, undefined]);
  expect([await getLastNumber(unknown.messages, session), unknown.getCounts()]).toEqual([2, 1]);
  const empty = await fill([]);
  expect([await getLastNumber(empty.messages, session), empty.getCounts()]).toEqual([0, 0]);
});

it('reads all of a short session, whatever its numbers', async () => {
  const { read } = await fill(from(17, 15));
  expect(await read()).toEqual({ first: 1, length: 15, last: 31 });
});

it('reads only the messages before a place', async () => {
  const { read } = await fill(from(1, 40));
  expect(await read(3, { before: 21 })).toEqual({ first: 18, length: 3, last: 20 });
  expect(await read(undefined, { before: 38 })).toEqual({ first: 21, length: 17, last: 37 });
  expect(await read(3, { before: 21, known: 20 })).toEqual({ first: 18, length: 3, last: 20 });
  const unnumbered = await fill(from(1, 40).map(() => undefined));
  expect(await unnumbered.read(undefined, { before: 38 })).toEqual({ first: 21, length: 17, last: 37 });
});

it.each([
  { count: undefined, length: 40, known: 20, reads: 0 },
  { count: 20, length: 40, known: 20, reads: 0 },
  { count: 3, length: 40, known: 20, reads: 0 },
  { count: 21, length: 40, known: 20, reads: 1 },
  { count: 30, length: 19, known: 19, reads: 0 },
  { count: 30, length: 20, known: 20, reads: 1 },
  { count: 30, length: 0, known: 0, reads: 0 },
])('takes %o from the newest messages that are read already', async ({ count, length, known, reads }) => {
  const { read, getReads } = await fill(from(1, length));
  const expected = await read(count);
  const before = getReads();
  expect(await read(count, { known })).toEqual(expected);
  expect(getReads() - before).toBe(reads);
});

it('reads messages of the session and its owner only', async () => {
  const { messages, all, read } = await fill(from(1, 3));
  const [first] = all;
  if (first === undefined) throw new Error('no message');
  const createdAt = first.createdAt + 100;
  await messages.insert({ ...first, id: 'other owner', ownerId: 'other', createdAt, number: 50 });
  await messages.insert({ ...first, id: 'other session', sessionId: 'other', createdAt, number: 60 });
  expect(await read()).toEqual({ first: 1, length: 3, last: 3 });
  const stranger = { ...first, ownerId: 'other' };
  const known = await recentMessages(messages, session, undefined, undefined, [stranger]);
  expect(known.messages).toHaveLength(3);
  expect(await getLastNumber(messages, session)).toBe(3);
});

it('counts messages of the session and its owner only', async () => {
  const { messages, all, read } = await fill(from(1, 34).map(() => undefined));
  const [first] = all;
  if (first === undefined) throw new Error('no message');
  await messages.insert({ ...first, id: 'other owner', ownerId: 'other' });
  await messages.insert({ ...first, id: 'other session', sessionId: 'other' });
  expect(await read()).toEqual({ first: 21, length: 14, last: 34 });
});
