import { describe, expect, it } from 'vitest';
import { settle } from '../../test/delayed.ts';
import { CREDIT, MODEL, openCrashed, openQuestRun, QUEST_ID, REQUEST } from '../../test/quest-run.ts';
import type { EventLog } from '../ports/event-log.ts';
import type { Store } from '../ports/store.ts';
import type { QuestTask } from './quest-task.ts';
import { QUESTS } from './records.ts';
import type { RunContext } from './run-context.ts';
import { QUEST_TEXTS } from './text-pieces.ts';
import { closeStopped, stopQuest } from './transitions.ts';

const COST = 50_000;
const DONE = { type: 'message' } as const;
const PAUSE = { calls: [], sealedState: 'sealed' };

async function speak(run: RunContext): Promise<void> {
  const call = await run.pay(MODEL, REQUEST);
  call.meter.record({ type: 'text', text: 'abcdefg' });
  run.writer.append('abcdefg');
}

/** Longer than all other calls of a test together. */
async function takeLong(): Promise<void> {
  for (let round = 0; round < 10; round += 1) await settle();
}

type IsSlow = (collection: string, verb: string, given: readonly unknown[]) => boolean;

/** A store whose named calls take long. */
function slowed(store: Store, isSlow: IsSlow): Store {
  return {
    ...store,
    collection: (definition) =>
      new Proxy(store.collection(definition), {
        get(records, verb) {
          const method: unknown = Reflect.get(records, verb);
          if (typeof method !== 'function') return method;
          return async (...given: unknown[]) => {
            if (isSlow(definition.name, String(verb), given)) await takeLong();
            return Reflect.apply(method, records, given);
          };
        },
      }),
    transaction: (work, more) => store.transaction((inner) => work(slowed(inner, isSlow)), more),
  };
}

/** A task whose end looks at what there is by then. */
function looking(look: (store: Store) => Promise<unknown>) {
  const seen: unknown[] = [];
  const alongside: QuestTask['alongside'] = async (store) => void seen.push(await look(store));
  return { seen, alongside };
}

/** A task whose end looks at the types of the events by then. */
function lookingAtEvents() {
  let read: EventLog['read'] = async () => [];
  const { seen, alongside } = looking(async () =>
    (await read(QUEST_ID, 0))?.map(({ event }) => (event as { readonly type: string }).type),
  );
  return {
    seen,
    task: { isLive: true, alongside },
    /** Lets each batch of events take long. */
    slow({ eventLog }: { readonly eventLog: EventLog }): void {
      read = eventLog.read.bind(eventLog);
      const append = eventLog.append.bind(eventLog);
      eventLog.append = async (...given) => {
        await takeLong();
        return append(...given);
      };
    },
  };
}

describe('readers of a quest get its last events before its end', () => {
  it.each([
    ['when it is done', false],
    ['when it is stopped', true],
  ])('%s', async (_title, isStopped) => {
    const { seen, task, slow } = lookingAtEvents();
    const { start, services, quests } = await openQuestRun({ task });
    slow(services);
    await start(async (run) => {
      run.writer.append('abc');
      if (isStopped) {
        await stopQuest(quests, QUEST_ID, 'Enough.', 0);
        await run.writer.save();
        run.signal.throwIfAborted();
      }
      return DONE;
    });
    expect(seen).toEqual([['text']]);
  });

  it('when its worker has crashed', async () => {
    const { seen, task, slow } = lookingAtEvents();
    const save = async (run: RunContext): Promise<void> => {
      run.writer.append('abc');
      await run.writer.save();
    };
    const { recover, services } = await openCrashed(save, { task });
    slow(services);
    await recover();
    expect(seen).toEqual([['reset-step']]);
  });
});

describe('the job of a quest goes on until', () => {
  it('its events are joined', async () => {
    const { start, services, clock } = await openQuestRun({ task: { isLive: 'parts' } });
    const { eventLog } = services;
    const compact = eventLog.compact.bind(eventLog);
    let count = 0;
    eventLog.compact = async (...given) => {
      await takeLong();
      await compact(...given);
      count += 1;
    };
    await start(async (run) => {
      run.live.emit({ type: 'step', iteration: 1 });
      await clock.advance(100);
      return DONE;
    });
    expect(count).toBe(1);
  });

  it('a stopped quest that another worker has closed has its charge', async () => {
    const { start, quests, read } = await openQuestRun({
      store: (store) =>
        slowed(store, (name, verb, given) => {
          const [, patch] = given as [string, object | undefined];
          return (
            name === QUESTS.name && verb === 'update' && Object.keys(patch ?? {}).join() === 'promptMeta'
          );
        }),
    });
    await start(async (run) => {
      await speak(run);
      await stopQuest(quests, QUEST_ID, 'Enough.', 0);
      await closeStopped(quests, QUEST_ID, {});
      return DONE;
    });
    expect(await read()).toMatchObject({ status: 'stopped', promptMeta: { credits: COST / 1e6 } });
  });

  it('holds without an answer are released, before it waits', async () => {
    let count = 0;
    const { start, balance, read } = await openQuestRun({
      ledger: (ledger) => ({
        ...ledger,
        async hold(request) {
          count += 1;
          const outcome = await ledger.hold(request);
          if (count === 1) throw new Error('no answer');
          return outcome;
        },
        async release(hold) {
          await takeLong();
          return ledger.release(hold);
        },
      }),
    });
    await start(async (run) => {
      await run.pay(MODEL, REQUEST).catch(() => undefined);
      return PAUSE;
    });
    expect([(await read()).status, await balance()]).toMatchObject(['waiting', { held: 0, posted: CREDIT }]);
  });
});

describe('a quest ends only after', () => {
  it('its charge is settled', async () => {
    let look: () => Promise<unknown> = async () => undefined;
    const { seen, alongside } = looking(() => look());
    const { start, charges } = await openQuestRun({
      ledger: (ledger) => ({
        ...ledger,
        async settle(...given) {
          await takeLong();
          return ledger.settle(...given);
        },
      }),
      task: { alongside },
    });
    look = charges;
    await start(async (run) => {
      await speak(run);
      return DONE;
    });
    expect(seen).toMatchObject([[{ amount: COST }]]);
  });

  it('its writes of text, which leave no piece behind', async () => {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    let isHeld = false;
    let isEnding = false;
    const { start, read, clock, store } = await openQuestRun({
      store: (given) => ({
        ...slowed(given, () => false),
        collection(definition) {
          const records = given.collection(definition);
          return {
            ...records,
            async update(...more) {
              if (isHeld) await opened;
              return records.update(...more);
            },
          };
        },
        async transaction(work, more) {
          if (isEnding) {
            isEnding = false;
            await takeLong();
          }
          return given.transaction(work, more);
        },
      }),
    });
    await start(async (run) => {
      isHeld = true;
      run.writer.append('a');
      await clock.advance(500);
      isHeld = false;
      run.writer.append('b');
      await clock.advance(5000);
      isEnding = true;
      void settle().then(open);
      return DONE;
    });
    expect([(await read()).text, await store.collection(QUEST_TEXTS).count({})]).toEqual(['ab', 0]);
  });
});

describe('the transaction that ends a quest contains the deletion of its pieces', () => {
  const isSlow: IsSlow = (name, verb) => name === QUEST_TEXTS.name && verb === 'removeWhere';

  it.each([
    ['when it is done', false],
    ['when it is stopped', true],
  ])('%s', async (_title, isStopped) => {
    const { seen, alongside } = looking((store) => store.collection(QUEST_TEXTS).count({}));
    const { start, quests, clock, store } = await openQuestRun({
      store: (given) => slowed(given, isSlow),
      task: { alongside },
    });
    await start(async (run) => {
      run.writer.append('a');
      await run.writer.save();
      run.writer.append('b');
      await clock.advance(5000);
      expect(await store.collection(QUEST_TEXTS).count({})).toBe(1);
      if (isStopped) await stopQuest(quests, QUEST_ID, 'Enough.', 0);
      return DONE;
    });
    expect(seen).toEqual([0]);
  });
});
