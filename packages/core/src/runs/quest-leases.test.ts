import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { CREDIT, crash, HELD, MODEL, openQuestRun, QUEST_ID, REQUEST } from '../../test/quest-run.ts';
import type { RunContext } from './run-context.ts';

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

describe('worker that has lost its quest', () => {
  it('to a newer worker writes, settles and releases nothing', async () => {
    const { start, read, quests, stored, ended, balance, charges, clock } = await openQuestRun();
    await start(async (run) => {
      await speak(run);
      await quests.update(QUEST_ID, { fence: 9 });
      return DONE;
    });
    expect([await read(), await balance()]).toMatchObject([{ status: 'running' }, { held: HELD }]);
    expect([await charges(), stored, ended, clock.pending]).toEqual([[], [], [], 0]);
  });

  it('that another one has ended leaves the money to it', async () => {
    const { start, quests, balance, stored } = await openQuestRun();
    await start(async (run) => {
      await speak(run);
      await quests.update(QUEST_ID, { status: 'done' });
      return DONE;
    });
    expect([await balance(), stored]).toMatchObject([{ held: HELD }, []]);
  });

  it('because its record is gone settles it only while it has the lease of its job', async () => {
    for (const hasLease of [true, false]) {
      const { start, quests, queue, balance, read } = await openQuestRun();
      await start(async (run) => {
        await speak(run);
        await quests.take(QUEST_ID);
        if (!hasLease) await queue.finish(run.lease);
        return DONE;
      });
      expect(await balance()).toMatchObject(hasLease ? { held: 0, posted: CREDIT - COST } : { held: HELD });
      expect(await read()).toBeUndefined();
    }
  });
});

it('is not run again for an old lease after the next worker has ended it', async () => {
  const { run, lease, takeOver, read } = await openQuestRun();
  const first = await lease();
  void run(first, crash);
  await run(await takeOver(), async () => DONE);
  expect(await read()).toMatchObject({ status: 'done', fence: 2 });
  expect(await run(first, crash)).toBeUndefined();
  expect(await read()).toMatchObject({ status: 'done', fence: 2 });
});

it('keeps the hold of the next worker when an old lease comes late', async () => {
  const { run, lease, takeOver, clock, balance } = await openQuestRun();
  const first = await lease();
  const second = await takeOver();
  void run(second, async (context) => {
    await speak(context);
    await context.writer.save();
    return crash();
  });
  await clock.advance(0);
  await run(first, crash);
  expect(await balance()).toMatchObject({ held: HELD, posted: CREDIT });
});

it('leaves nothing at the signal of its job, and is remote to its readers, after its end', async () => {
  const { run, lease, services } = await openQuestRun({ task: { isLive: true } });
  const control = new AbortController();
  const reader = services.liveFollowers.follow(QUEST_ID);
  await run(
    await lease(),
    async () => {
      expect(reader.isRemote()).toBe(false);
      return DONE;
    },
    control.signal,
  );
  expect([getEventListeners(control.signal, 'abort'), reader.isRemote()]).toEqual([[], true]);
});
