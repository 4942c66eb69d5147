import type { Operation } from '@questline/core';
import {
  createMemoryLimiter,
  createMemoryObjects,
  createMemoryPublisher,
  createMemoryVectors,
} from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import { askedIn, toTestAppOptions } from '../support/cases.ts';
import { createLostCalls } from '../support/lost-calls.ts';
import { createTestApp } from '../support/test-app.ts';
import { createWire } from '../support/wire.ts';
import type { WireCase } from './cases/case.ts';
import { CASES } from './cases/index.ts';

const AWAY = 'The service is temporarily unavailable. Try again shortly.';

const BROKEN_OFF = 'the answer broke off';

const { api } = await createTestApp();
/** The first success of each operation. */
const SUCCESSES = api.routes.flatMap(({ operation }) => {
  const one = CASES[operation.id]?.find(({ status }) => status >= 200 && status < 300);
  return one === undefined ? [] : [[operation.id, operation, one] as const];
});

/** @returns the answer of the case whose call number `place` is lost; undefined: it has fewer calls. */
async function answerWithout(operation: Operation, one: WireCase, place: number) {
  const lost = createLostCalls();
  const options = await toTestAppOptions(operation, one);
  const wire = await createWire({
    ...options,
    store: lost.lose,
    ledger: lost.lose,
    objects: lost.lose(options.objects ?? createMemoryObjects()),
    publisher: lost.lose(options.publisher ?? createMemoryPublisher()),
    ports: (given) => ({
      limiter: lost.lose(createMemoryLimiter()),
      vectors: lost.lose(createMemoryVectors()),
      ...options.ports?.(given),
    }),
  });
  const asked = await askedIn(operation, one, wire.app);
  Object.assign(lost, { place, calls: 0 });
  const answer = await wire.sendAndWait(asked).catch((error: Error) => {
    // A download that has begun.
    if (error.message !== BROKEN_OFF) throw error;
    return { status: 200, text: '' };
  });
  const isHit = lost.calls > place;
  lost.place = -1;
  await wire.app.api.close();
  return isHit ? answer : undefined;
}

describe('an operation whose storage loses one call', () => {
  it.each(SUCCESSES)('succeeds, or says that the service is unavailable: %s', async (_, operation, one) => {
    const wrong: string[] = [];
    for (let place = 0; ; place += 1) {
      const answer = await answerWithout(operation, one, place);
      if (answer === undefined) break;
      const isAway = answer.status === 503 && answer.text.includes(AWAY);
      const isFailed = /"status":50[0-2]/.test(answer.text);
      if (!isAway && (answer.status >= 300 || isFailed)) {
        wrong.push(`call ${place}: ${answer.status} ${answer.text.slice(0, 200)}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});
