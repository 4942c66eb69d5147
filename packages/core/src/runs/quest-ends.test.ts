import { describe, expect, it } from 'vitest';
import { CREDIT, HELD, MODEL, openQuestRun, QUEST_ID, REQUEST } from '../../test/quest-run.ts';
import { ProviderError } from '../ports/models.ts';
import { StorageUnavailable } from '../ports/store.ts';
import { ApiError } from '../shared/errors.ts';
import { QuestAbandoned } from './quest-task.ts';
import { newQuest } from './records.ts';
import type { RunContext } from './run-context.ts';
import { QUEST_TEXTS } from './text-pieces.ts';
import { stopQuest } from './transitions.ts';

const COST = 50_000;
const DONE = { type: 'message' } as const;

async function speak(run: RunContext) {
  const call = await run.pay(MODEL, REQUEST);
  call.meter.ask();
  call.meter.accept();
  call.meter.record({ type: 'text', text: 'abcdefg' });
  run.writer.append('abcdefg');
  return call;
}

/** A quest with pieces of text beside its record. */
async function speakInPieces(run: RunContext, advance: (ms: number) => Promise<void>): Promise<void> {
  run.writer.append('a');
  await run.writer.save();
  run.writer.append('b');
  await advance(5000);
}

describe('work that ends', () => {
  it('is stored with its outcome, its text and its phases', async () => {
    const { start, read, stored, ended, clock, store } = await openQuestRun();
    await start(async (run) => {
      run.stopwatch.phase('look');
      await clock.advance(7);
      run.stopwatch.phase('think');
      await speakInPieces(run, clock.advance);
      run.update({ answer: 'b', rounds: 1 });
      run.update({ rounds: 2 });
      run.writer.show({ type: 'card' } as never);
      return { type: 'error', explanation: 'No.' };
    });
    const quest = await read();
    expect(quest).toMatchObject({
      ...{ status: 'done', type: 'error', explanation: 'No.', text: 'ab', answer: 'b', rounds: 2 },
      ...{ toolPayloads: [{ type: 'card' }], phases: { look: 7, think: 5000, store: 0 } },
    });
    expect(quest).not.toHaveProperty('promptMeta');
    expect(quest).not.toHaveProperty('liveSince');
    expect([stored, ended]).toEqual([[quest], [quest]]);
    expect([await store.collection(QUEST_TEXTS).count({}), clock.pending]).toEqual([0, 0]);
  });

  it('is announced to those who wait for it', async () => {
    const { start, services, quests } = await openQuestRun();
    const waiting = services.questEvents.untilEnded(quests, QUEST_ID, {
      timeoutMs: 1e6,
      signal: new AbortController().signal,
    });
    await start(async () => DONE);
    expect(await waiting).toMatchObject({ status: 'done' });
  });

  it('gives its readers all events before the end', async () => {
    const { start, services } = await openQuestRun({ task: { isLive: true } });
    await start(async (run) => {
      run.writer.append('abc');
      return DONE;
    });
    expect(await services.eventLog.read(QUEST_ID, 0)).toMatchObject([{ event: { text: 'abc' } }]);
  });

  it('has its follow-ups stored with it and enqueued', async () => {
    const next = (id: string) =>
      newQuest({ id, kind: 'next', sessionId: 's', ownerId: 'ada', request: {} as never }, 0);
    const { start, quests, queue, incidents } = await openQuestRun({
      task: {
        followUps: [
          { applies: ({ text }) => text === 'abc', create: async () => next('first') },
          { applies: () => false, create: async () => next('second') },
          { applies: () => true, create: async () => undefined },
          { applies: () => true, create: async () => next('first') },
        ],
      },
    });
    await start(async (run) => {
      run.writer.append('abc');
      return DONE;
    });
    expect(await quests.count({ id: { in: ['first', 'second'] } })).toBe(1);
    const jobs = await queue.lease({ kinds: ['next'], limit: 9, leaseMs: 1 });
    expect([jobs.map(({ key }) => key), incidents]).toEqual([['first'], []]);
  });

  it('ends also when a follow-up cannot be enqueued, which is reported', async () => {
    const error = new Error('away');
    const follow = newQuest(
      { id: 'n', kind: 'next', sessionId: 's', ownerId: 'ada', request: {} as never },
      0,
    );
    const { start, read, quests, incidents } = await openQuestRun({
      queue: (queue) => ({
        ...queue,
        enqueue: (job, options) =>
          job.kind === 'next' ? Promise.reject(error) : queue.enqueue(job, options),
      }),
      task: { followUps: [{ applies: () => true, create: async () => follow }] },
    });
    await start(async () => DONE);
    expect([(await read()).status, await quests.count({ id: 'n' })]).toEqual(['done', 1]);
    expect(incidents).toEqual([{ operation: 'job:next', requestId: '', error }]);
  });
});

describe('work that fails', () => {
  it.each<[string, Error, object, number]>([
    ['by a defect', new Error('secret'), { explanation: expect.stringMatching(/^Something went wrong/) }, 1],
    [
      'with a message',
      new ApiError(422, 'Too long.', { code: 'context_length_exceeded' }),
      { explanation: 'Too long.', errorCode: 'context_length_exceeded' },
      0,
    ],
    ['with a message without a code', new ApiError(422, 'No.'), { explanation: 'No.' }, 0],
    [
      'at the provider',
      new ProviderError('overloaded', 'secret'),
      { explanation: expect.not.stringContaining('secret') },
      1,
    ],
  ])('%s ends with an error', async (_name, error, expected, reports) => {
    const { start, read, incidents } = await openQuestRun();
    await start(async (run) => {
      run.writer.append('half');
      throw error;
    });
    expect(await read()).toMatchObject({ status: 'done', type: 'error', text: 'half', ...expected });
    if (!('errorCode' in expected)) expect(await read()).not.toHaveProperty('errorCode');
    expect(incidents).toEqual(
      Array.from({ length: reports }, () => ({ operation: 'job:work', requestId: '', error })),
    );
  });

  it('because its target is gone stops the quest, and charges what was used', async () => {
    const { start, read, stored, ended, balance, store, clock } = await openQuestRun();
    await start(async (run) => {
      await speak(run);
      await run.writer.save();
      run.writer.append('x');
      await clock.advance(5000);
      throw new QuestAbandoned('The session is gone.');
    });
    expect(await read()).toMatchObject({
      ...{ status: 'stopped', explanation: 'The session is gone.' },
      promptMeta: { credits: COST / 1e6 },
    });
    expect([stored, ended, await store.collection(QUEST_TEXTS).count({})]).toEqual([[], [], 0]);
    expect(await balance()).toMatchObject({ held: 0, posted: CREDIT - COST });
  });

  it('because its target is gone is announced, and leaves no pieces', async () => {
    const { start, services, quests, clock, store } = await openQuestRun();
    const { signal } = new AbortController();
    const waiting = services.questEvents.untilEnded(quests, QUEST_ID, { timeoutMs: 1e6, signal });
    await start(async (run) => {
      await speakInPieces(run, clock.advance);
      throw new QuestAbandoned('The session is gone.');
    });
    expect(await waiting).toMatchObject({ status: 'stopped' });
    expect(await store.collection(QUEST_TEXTS).count({})).toBe(0);
  });

  it('because its target is gone, after it was stopped, is closed', async () => {
    for (const isCharged of [true, false]) {
      const { start, read, quests, balance, stored } = await openQuestRun();
      await start(async (run) => {
        if (isCharged) await speak(run);
        await stopQuest(quests, QUEST_ID, 'Enough.', 0);
        throw new QuestAbandoned('The session is gone.');
      });
      expect(await read()).toMatchObject({ status: 'stopped', explanation: 'Enough.' });
      expect(await read()).not.toHaveProperty('liveSince');
      expect([await balance(), stored.length]).toMatchObject([{ held: 0 }, 1]);
    }
  });

  it('because its target is gone, after a newer worker has taken over, changes nothing', async () => {
    const { start, read, quests, balance, clock } = await openQuestRun();
    await start(async (run) => {
      await speak(run);
      await quests.update(QUEST_ID, { fence: 9 });
      throw new QuestAbandoned('The session is gone.');
    });
    expect(clock.pending).toBe(0);
    expect([await read(), await balance()]).toMatchObject([{ status: 'running' }, { held: HELD }]);
  });

  it('because the store is away is repeated, unless there is output or a charge', async () => {
    const error = new StorageUnavailable('away');
    const none = await openQuestRun();
    const failing = none.start(async (run) => {
      await run.pay(MODEL, REQUEST);
      throw error;
    });
    await expect(failing).rejects.toBe(error);
    expect([await none.read(), await none.balance()]).toMatchObject([{ status: 'running' }, { held: 0 }]);
    for (const isCharge of [true, false]) {
      const some = await openQuestRun();
      await some.start(async (run) => {
        if (isCharge) await run.endStep(await run.pay(MODEL, REQUEST), 'finished');
        else run.writer.append('x');
        throw error;
      });
      expect(await some.read()).toMatchObject({ status: 'done', type: 'error' });
    }
  });
});
