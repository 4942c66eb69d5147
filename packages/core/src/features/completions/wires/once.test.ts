import { describe, expect, it } from 'vitest';
import type { Idempotency, IdempotentRequest } from '../../../operations/idempotency.ts';
import { answerOnce } from './once.ts';

/** Whether the work was said to be charged. */
function setUp(isRepeated: boolean, isLeft: boolean) {
  const leaving = new AbortController();
  if (isLeft) leaving.abort();
  const state = { isCharged: false };
  const once: Idempotency['once'] = async (_request, work) => ({
    answer: (await work(() => {
      state.isCharged = true;
    })) as never,
    isRepeated,
  });
  const request = { call: { signal: leaving.signal } } as unknown as IdempotentRequest;
  return { state, request, services: { idempotency: { once } as Idempotency } };
}

describe('answer that is made once', () => {
  it.each([
    [false, {}],
    [true, { 'Idempotent-Replayed': 'true' }],
  ])('says whether it is repeated: %s', async (isRepeated, headers) => {
    const { services, request } = setUp(isRepeated, false);
    expect(await answerOnce(services, request, 'stop', async () => 'answer')).toEqual({
      answer: 'answer',
      headers,
    });
  });

  it.each([
    ['finish', true, true],
    ['finish', false, false],
    ['stop', true, false],
    ['stop', false, false],
  ] as const)(
    'spends its key with the failure of a call that is charged: %s, left %s',
    async (whenLeft, isLeft, isCharged) => {
      const { services, request, state } = setUp(false, isLeft);
      const error = new Error('failed');
      await expect(answerOnce(services, request, whenLeft, () => Promise.reject(error))).rejects.toBe(error);
      expect(state.isCharged).toBe(isCharged);
    },
  );
});
