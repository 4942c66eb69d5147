import { describe, expect, it } from 'vitest';
import { crash, openQuestRun, QUEST_ID, type QuestRunOptions } from '../../test/quest-run.ts';
import { JobInterrupted } from '../jobs/interruption.ts';
import { createQuestHandler } from './handler.ts';
import type { RunContext } from './run-context.ts';
import { createRunningQuests } from './running.ts';
import { QUEST_TEXTS } from './text-pieces.ts';

const DONE = { type: 'message' } as const;

/** A quest whose events can be read while it runs. */
async function setUp(isLive: boolean | 'parts', options: QuestRunOptions = {}) {
  const opened = await openQuestRun({ ...options, task: { isLive } });
  return {
    ...opened,
    async events() {
      const page = await opened.services.eventLog.read(QUEST_ID, 0);
      return page?.map(({ event }) => event);
    },
    append: (attempt: number, after: number) =>
      opened.services.eventLog.append(QUEST_ID, {
        ...{ attempt, after, keepMs: 1e9 },
        events: [{ type: 'text', text: 'late' }],
      }),
  };
}

const text = (value: string) => ({ type: 'text', text: value });

describe('events of a running quest', () => {
  it('wait for its first reader', async () => {
    const { start, events, clock, services } = await setUp(true);
    await start(async (run) => {
      run.writer.append('a');
      await clock.advance(1000);
      expect(await events()).toEqual([]);
      const reader = services.liveFollowers.follow(QUEST_ID);
      await reader.ready;
      expect(await events()).toEqual([text('a')]);
      run.writer.append('b');
      await clock.advance(100);
      expect(await events()).toEqual([text('a'), text('b')]);
      reader.leave();
      run.writer.append('c');
      await clock.advance(1000);
      expect(await events()).toHaveLength(2);
      return DONE;
    });
    expect(await events()).toHaveLength(3);
  });

  it('reach a reader in another process soon, also where the work has no text', async () => {
    const { start, events, clock, quests } = await setUp(true);
    await start(async (run) => {
      run.live.emit({ type: 'step', iteration: 1 });
      await quests.update(QUEST_ID, { followedAt: clock.now() });
      await clock.advance(500);
      expect(await events()).toEqual([{ type: 'step', iteration: 1 }]);
      return DONE;
    });
  });

  it('have a first reader, for whom the text is stored soon', async () => {
    const { start, clock, services, store } = await setUp(true);
    const pieces = store.collection(QUEST_TEXTS);
    await start(async (run) => {
      run.writer.append('a');
      await clock.advance(60_000);
      run.writer.append('b');
      await clock.advance(500);
      expect(await pieces.count({})).toBe(0);
      const reader = services.liveFollowers.follow(QUEST_ID);
      await reader.ready;
      await clock.advance(500);
      expect(await pieces.count({})).toBe(1);
      reader.leave();
      return DONE;
    });
  });

  it('are written at once for the readers that the worker before may have had', async () => {
    const { run, lease, takeOver, events, clock } = await setUp(true);
    await lease();
    await run(await takeOver(), async (context) => {
      context.writer.append('a');
      await clock.advance(100);
      expect(await events()).toEqual([text('a')]);
      return DONE;
    });
  });

  it('are those that the work emits, without its text, for work that stores its parts', async () => {
    const { start, events, clock } = await setUp('parts');
    await start(async (run) => {
      run.writer.append('a');
      run.live.emit({ type: 'step', iteration: 1 });
      await clock.advance(100);
      expect(await events()).toEqual([{ type: 'step', iteration: 1 }]);
      return DONE;
    });
  });

  it('are none for work without readers', async () => {
    const { start, events, clock, services } = await setUp(false);
    await start(async (run) => {
      services.liveFollowers.follow(QUEST_ID);
      run.writer.append('a');
      run.live.emit({ type: 'step', iteration: 1 });
      await clock.advance(1000);
      return DONE;
    });
    expect(await events()).toEqual([]);
  });

  it('begin again behind those of another worker with its whole text, while it may write', async () => {
    for (const isHeld of [true, false]) {
      const { start, events, append, quests } = await setUp('parts');
      await append(1, 0);
      await start(async (run) => {
        run.writer.append('mine');
        run.live.emit({ type: 'step', iteration: 1 });
        if (!isHeld) await quests.update(QUEST_ID, { fence: 9 });
        await run.live.flush();
        return DONE;
      });
      const own = [
        { type: 'reset-step', text: 'mine' },
        { type: 'step', iteration: 1 },
      ];
      expect(await events()).toEqual([text('late'), ...(isHeld ? own : [])]);
    }
  });

  it('have the fence of their worker, so that those of an earlier one are refused', async () => {
    const { run, lease, append, quests } = await setUp('parts');
    await quests.update(QUEST_ID, { resumed: 1, fence: 1_000_000 });
    const job = await lease();
    await run({ ...job, payload: { questId: QUEST_ID, resumed: 1 } }, async (context) => {
      context.live.emit({ type: 'step', iteration: 1 });
      await context.live.flush();
      return DONE;
    });
    expect(await append(1_000_000, 1)).toMatchObject({ isAppended: false, attempt: 1_000_001 });
  });

  it('that wait are dropped with the lease', async () => {
    const { run, lease, events, clock, services } = await setUp(true);
    const control = new AbortController();
    services.liveFollowers.follow(QUEST_ID);
    await run(
      await lease(),
      async (context) => {
        context.writer.append('a');
        control.abort(new JobInterrupted('lease-lost'));
        context.signal.throwIfAborted();
        return DONE;
      },
      control.signal,
    );
    expect(clock.pending).toBe(0);
    await clock.advance(1000);
    expect(await events()).toEqual([]);
  });
});

describe('failures of a running quest', () => {
  const error = new Error('away');
  const incident = { operation: 'job:work', requestId: '', error };

  it('to write its progress are reported under its kind, and do not end it', async () => {
    let isAway = false;
    const { start, clock, incidents, read } = await openQuestRun({
      store: (store) => ({
        ...store,
        collection: (definition) => {
          const collection = store.collection(definition);
          return {
            ...collection,
            update: (...args) => (isAway ? Promise.reject(error) : collection.update(...args)),
          };
        },
      }),
    });
    await start(async (run) => {
      isAway = true;
      run.writer.append('a');
      await clock.advance(500);
      isAway = false;
      return DONE;
    });
    expect([incidents, (await read()).status]).toEqual([[incident], 'done']);
  });

  it('to write its events are reported under its kind, and do not end it', async () => {
    const { start, services, incidents, read } = await setUp('parts');
    const append = services.eventLog.append;
    services.eventLog.append = () => Promise.reject(error);
    await start(async (run) => {
      run.live.emit({ type: 'step', iteration: 1 });
      await run.live.flush();
      services.eventLog.append = append;
      return DONE;
    });
    expect([incidents, (await read()).status]).toEqual([[incident], 'done']);
  });
});

it('is written once by its claim and once by its end, where nothing is charged', async () => {
  const writes: string[] = [];
  const { start } = await openQuestRun({
    store: (store) => {
      const watch = (from: typeof store): typeof store => ({
        ...from,
        collection: (definition) => {
          const collection = from.collection(definition);
          return {
            ...collection,
            update(id, ...args) {
              writes.push(definition.name);
              return collection.update(id, ...args);
            },
          };
        },
        transaction: (work, options) => from.transaction((inner) => work(watch(inner)), options),
      });
      return watch(store);
    },
  });
  await start(async (run: RunContext) => {
    run.update({ answer: 'A' });
    return DONE;
  });
  expect(writes).toEqual(['quests', 'quests']);
});

it('gives the worker its kind and its concurrency', async () => {
  const { services } = await openQuestRun();
  const handler = createQuestHandler(services, createRunningQuests(), {
    ...{ kind: 'work', operation: 'do-work', concurrency: 3, phases: [] },
    work: crash,
    alongside: async () => undefined,
  });
  expect(handler).toMatchObject({ kind: 'work', concurrency: 3 });
});
