import { setImmediate as turn } from 'node:timers/promises';
import { estimateInput, estimateTokens, promptSize } from '@questline/core/internal';
import { createRandom } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { answerParts, createChatApp } from '../support/chat.ts';
import type { ModelCall } from '../support/model.ts';

const ROUNDS = 500;
const MICRO_CREDITS_PER_TOKEN = 10_000;
/** 10 input tokens and one output token. */
const FULL_CHARGE = 11 * MICRO_CREDITS_PER_TOKEN;
const START = 1_000_000_000_000;

/** Estimated output of a turn that was stopped before the provider reported its usage. */
function getEstimate(call: ModelCall | undefined): number {
  if (call === undefined) return 0;
  const tokens = estimateInput(promptSize(call.request)) + estimateTokens('Hello.'.length);
  return tokens * MICRO_CREDITS_PER_TOKEN;
}

/** The cost of a stopped turn is recorded shortly after its end. */
function withoutBill({ promptMeta: _, ...quest }: Record<string, unknown>): Record<string, unknown> {
  return quest;
}

describe('cancellation during completion', () => {
  it(`ends each of ${ROUNDS} races exactly once, does not change afterwards, and charges at most the usage`, async () => {
    const random = createRandom(7);
    const pause = async (most: number): Promise<void> => {
      for (let left = random.below(most + 1); left > 0; left -= 1) {
        if (random.chance(0.3)) await turn();
        else await Promise.resolve();
      }
    };
    const answer = async (call: ModelCall): Promise<void> => {
      for (const part of answerParts('Hello.')) {
        await pause(4);
        call.say(part);
      }
      await pause(4);
      call.end();
    };
    const app = await createChatApp({
      credits: START / 1_000_000,
      onCall: (call) => {
        void answer(call);
      },
    });
    const ends = { done: 0, stopped: 0 };
    let spent = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = app.calls.length;
      const { id } = (await app.chat({ message: 'Hi' })).body;
      await pause(40);
      const [cancelled, polled] = await Promise.all([
        app.json('POST', `/api/v1/quests/${id}/cancel`),
        pause(20).then(() => app.poll(id)),
      ]);
      await app.settle();
      const end = await app.poll(id);
      expect(['done', 'stopped']).toContain(end.status);
      expect(withoutBill(cancelled.body)).toEqual(withoutBill(end));
      if (polled.status === 'done' || polled.status === 'stopped') {
        expect(withoutBill(polled)).toEqual(withoutBill(end));
      }
      expect(end.reply).toBe(end.status === 'done' ? 'Hello.' : 'This turn was cancelled.');
      ends[end.status as keyof typeof ends] += 1;

      const { posted, held } = await app.ledger.balance(app.account);
      const charged = START - posted - spent;
      spent += charged;
      expect(held).toBe(0);
      if (end.status === 'done') expect(charged).toBe(FULL_CHARGE);
      else expect(charged).toBeLessThanOrEqual(getEstimate(app.calls[before]));
      expect((end.promptMeta as { credits?: number } | undefined)?.credits ?? 0).toBe(charged / 1_000_000);
      await app.clock.advance(600);
      await app.settle();
      expect(await app.poll(id)).toEqual(end);
    }
    expect(await app.services.queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
    expect(app.incidents).toEqual([]);
    console.info(`${ROUNDS} races: ${ends.done} done, ${ends.stopped} stopped`);
    expect(Math.min(ends.done, ends.stopped)).toBeGreaterThan(ROUNDS / 20);
  });
});
