import { createFakeClock, createFakeIds } from '@questline/testing';
import { expect, it } from 'vitest';
import { createMemoryStore } from '../../memory/store.ts';
import type { Store } from '../../ports/store.ts';
import { writesTo } from '../../ports/write-all.ts';
import { type Answered, CHALLENGES, createChallenges } from './challenges.ts';
import { createPendingTokens } from './pending-tokens.ts';

const LIFE_MS = 600_000;
const ADA = 'ada@example.com';

function setUp(change: (store: Store) => Store = (store) => store) {
  const clock = createFakeClock();
  const store = change(createMemoryStore());
  const pendingTokens = createPendingTokens(new Uint8Array(32).fill(7));
  const challenges = createChallenges({ store, clock, ids: createFakeIds(), pendingTokens });
  const records = store.collection(CHALLENGES);
  return { clock, pendingTokens, challenges, records };
}

function tokenOf(answered: Answered): string {
  if (answered.kind !== 'wrong') throw new Error(`the answer is ${answered.kind}`);
  return answered.pendingToken;
}

async function keepOpen(answered: Answered): Promise<string> {
  if (answered.kind !== 'right') throw new Error(`the answer is ${answered.kind}`);
  return answered.keepOpen();
}

it('begins with a signed token and the code of it, and stores nothing', async () => {
  const { clock, pendingTokens, challenges, records } = setUp();
  const { code, pendingToken } = challenges.begin(ADA);
  const pending = pendingTokens.verify(pendingToken, ADA);
  expect(pending).toMatchObject({ serial: 0, expiresAt: clock.now() + LIFE_MS });
  expect(code).toBe(pendingTokens.toCode(pending?.challengeId ?? ''));
  expect(await records.count({})).toBe(0);
});

it('accepts a right code once', async () => {
  const { clock, pendingTokens, challenges, records } = setUp();
  const { code, pendingToken } = challenges.begin(ADA);
  expect(await challenges.answer(ADA, pendingToken, code)).toMatchObject({ kind: 'right' });
  const id = pendingTokens.verify(pendingToken, ADA)?.challengeId;
  expect(await records.find({})).toEqual([{ id, tries: 1, serial: 1, expiresAt: clock.now() + LIFE_MS }]);
  expect(await challenges.answer(ADA, pendingToken, code)).toEqual({ kind: 'void' });
});

it('accepts an answer before the end of ten minutes only', async () => {
  const { clock, challenges, records } = setUp();
  const first = challenges.begin(ADA);
  const second = challenges.begin(ADA);
  await clock.advance(LIFE_MS - 1);
  const next = tokenOf(await challenges.answer(ADA, first.pendingToken, 'wrong'));
  await clock.advance(1);
  expect(await challenges.answer(ADA, next, first.code)).toEqual({ kind: 'void' });
  expect(await challenges.answer(ADA, second.pendingToken, second.code)).toEqual({ kind: 'void' });
  expect(await records.count({})).toBe(1);
});

it('counts five wrong codes per challenge, each with a new token', async () => {
  const { pendingTokens, challenges } = setUp();
  // A challenge with a lower id and other tries.
  const other = challenges.begin(ADA);
  await challenges.answer(ADA, other.pendingToken, 'wrong');
  let { code, pendingToken } = challenges.begin(ADA);
  const left: unknown[] = [];
  for (let serial = 1; serial <= 5; serial += 1) {
    const used = pendingToken;
    const answered = await challenges.answer(ADA, used, 'wrong');
    left.push(answered.kind === 'wrong' && answered.attemptsLeft);
    pendingToken = tokenOf(answered);
    expect(pendingTokens.verify(pendingToken, ADA)).toMatchObject({ serial });
    expect(await challenges.answer(ADA, used, 'wrong')).toEqual({ kind: 'void' });
  }
  expect(left).toEqual([4, 3, 2, 1, 0]);
  expect(await challenges.answer(ADA, pendingToken, code)).toEqual({ kind: 'void' });
});

it('accepts a right code after four wrong ones', async () => {
  const { challenges } = setUp();
  let { code, pendingToken } = challenges.begin(ADA);
  for (let count = 0; count < 4; count += 1) {
    pendingToken = tokenOf(await challenges.answer(ADA, pendingToken, 'wrong'));
  }
  expect(await challenges.answer(ADA, pendingToken, code)).toMatchObject({ kind: 'right' });
});

it('does not count right codes that are kept open', async () => {
  const { clock, pendingTokens, challenges, records } = setUp();
  let { code, pendingToken } = challenges.begin(ADA);
  const expiresAt = clock.now() + LIFE_MS;
  await clock.advance(1000);
  for (let serial = 1; serial <= 7; serial += 1) {
    pendingToken = await keepOpen(await challenges.answer(ADA, pendingToken, code));
    expect(pendingTokens.verify(pendingToken, ADA)).toMatchObject({ serial, expiresAt });
    expect(await records.find({})).toMatchObject([{ tries: 0, serial, expiresAt }]);
  }
  const answered = await challenges.answer(ADA, pendingToken, 'wrong');
  expect(answered).toMatchObject({ kind: 'wrong', attemptsLeft: 4 });
});

it('fails when a challenge cannot be kept open', async () => {
  const failure = new Error('the store has failed');
  const { challenges } = setUp((store) => ({
    ...store,
    collection: (definition) => ({
      ...store.collection(definition),
      add: () => Promise.reject(failure),
    }),
  }));
  const { code, pendingToken } = challenges.begin(ADA);
  const answered = await challenges.answer(ADA, pendingToken, code);
  await expect(keepOpen(answered)).rejects.toBe(failure);
});

it('rejects the token of another address, and text that is no token', async () => {
  const { challenges, records } = setUp();
  const { code, pendingToken } = challenges.begin(ADA);
  expect(await challenges.answer('eve@example.com', pendingToken, code)).toEqual({ kind: 'void' });
  expect(await challenges.answer(ADA, 'none', code)).toEqual({ kind: 'void' });
  expect(await records.count({})).toBe(0);
});

it('is void, and not counted, when another part of the step does not match', async () => {
  const { challenges, records } = setUp();
  const { code, pendingToken } = challenges.begin(ADA);
  const missing = writesTo(CHALLENGES).expect('0'.repeat(24));
  expect(await challenges.answer(ADA, pendingToken, code, [missing])).toEqual({ kind: 'void' });
  expect(await records.count({})).toBe(0);
  const none = writesTo(CHALLENGES).expectNone('0'.repeat(24), {});
  expect(await challenges.answer(ADA, pendingToken, code, [none])).toMatchObject({ kind: 'right' });
});

it('deletes expired challenges', async () => {
  const { clock, challenges, records } = setUp();
  await challenges.answer(ADA, challenges.begin(ADA).pendingToken, 'wrong');
  await clock.advance(1);
  await challenges.answer(ADA, challenges.begin(ADA).pendingToken, 'wrong');
  await clock.advance(LIFE_MS - 2);
  expect(await challenges.sweep()).toBe(0);
  await clock.advance(1);
  expect(await challenges.sweep()).toBe(1);
  expect(await records.count({})).toBe(1);
});
