import { setImmediate as turn } from 'node:timers/promises';
import { estimateInput, estimateTokens, promptSize } from '@questline/core';
import { createRandom } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { answerParts, createChatWorld } from '../support/chat.ts';
import type { ModelCall } from '../support/model.ts';

const ROUNDS = 500;
const MICRO_CREDITS_PER_TOKEN = 10_000;
/** 10 input tokens and one output token. */
const FULL_CHARGE = 11 * MICRO_CREDITS_PER_TOKEN;
const START = 1_000_000_000_000;

/** What a turn is taken to have used when it was stopped before the provider said. */
function estimateOf(call: ModelCall | undefined): number {
  if (call === undefined) return 0;
  const tokens = estimateInput(promptSize(call.request)) + estimateTokens('Hello.'.length);
  return tokens * MICRO_CREDITS_PER_TOKEN;
}

describe('cancel against completion', () => {
  it(`${ROUNDS} races: exactly one end, never changed again, charged at most for what ran`, async () => {
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
    const world = await createChatWorld({
      credits: START / 1_000_000,
      onCall: (call) => {
        void answer(call);
      },
    });
    const ends = { done: 0, stopped: 0 };
    let spent = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = world.calls.length;
      const { id } = (await world.chat({ message: 'Hi' })).body;
      await pause(40);
      const [cancelled, polled] = await Promise.all([
        world.json('POST', `/api/v1/quests/${id}/cancel`),
        pause(20).then(() => world.poll(id)),
      ]);
      await world.settle();
      const end = await world.poll(id);
      expect(['done', 'stopped']).toContain(end.status);
      expect(cancelled.body).toEqual(end);
      if (polled.status === 'done' || polled.status === 'stopped') expect(polled).toEqual(end);
      expect(end.reply).toBe(end.status === 'done' ? 'Hello.' : 'This turn was cancelled.');
      ends[end.status as keyof typeof ends] += 1;

      const { posted, held } = await world.ledger.balance(world.account);
      const charged = START - posted - spent;
      spent += charged;
      expect(held).toBe(0);
      if (end.status === 'done') expect(charged).toBe(FULL_CHARGE);
      else expect(charged).toBeLessThanOrEqual(estimateOf(world.calls[before]));
      await world.clock.advance(600);
      await world.settle();
      expect(await world.poll(id)).toEqual(end);
    }
    expect(await world.services.queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
    expect(world.incidents).toEqual([]);
    console.info(`${ROUNDS} races: ${ends.done} done, ${ends.stopped} stopped`);
    expect(Math.min(ends.done, ends.stopped)).toBeGreaterThan(ROUNDS / 20);
  });
});
