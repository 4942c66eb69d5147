import { describe, expect, it } from 'vitest';
import { openQuestRun, QUEST_ID, type QuestRunOptions } from '../../test/quest-run.ts';
import { withWriteAll } from '../../test/whole-writes.ts';
import { writesTo } from '../ports/write-all.ts';
import { acceptClaimed } from './claimed-quests.ts';
import { QUESTS, type QuestRecord } from './records.ts';
import { stopQuest } from './transitions.ts';

const DONE = { type: 'message' } as const;

/** A kind of quest whose first run reads the session of the job with its claim. */
async function setUp(options: QuestRunOptions = {}) {
  let found: readonly QuestRecord[] = [];
  const asked = { count: 0, updates: 0 };
  const opened = await openQuestRun({
    store: (store) => ({
      ...withWriteAll(store),
      collection: (definition) => {
        const collection = store.collection(definition);
        return {
          ...collection,
          update(...args) {
            asked.updates += 1;
            return collection.update(...args);
          },
        };
      },
    }),
    task: {
      readFirst() {
        asked.count += 1;
        const read = writesTo(QUESTS).read({ sessionId: 's' }, 10, (records) => {
          found = records;
        });
        return {
          reads: [read],
          getInput: () => found.map(({ id, status }) => [id, status]),
        };
      },
    },
    ...options,
  });
  return { ...opened, asked };
}

describe('first claim of a quest', () => {
  it('reads what the work begins with in one step', async () => {
    const { run, lease, services, asked, clock, read } = await setUp();
    await clock.advance(5);
    const job = await lease();
    let updates: number | undefined;
    await run(job, async ({ quest }) => {
      updates = asked.updates;
      expect(quest).toMatchObject({ status: 'running', jobId: job.id, fence: 1, updatedAt: clock.now() });
      expect(quest).toEqual(await read());
      expect(services.claimedQuests.get(job)).toEqual({ quest, input: [[QUEST_ID, 'pending']] });
      return DONE;
    });
    expect([asked.count, updates]).toEqual([1, 0]);
  });

  it('is not repeated for a quest that was claimed with its acceptance', async () => {
    const { run, lease, services, asked, quests, read } = await setUp();
    const job = await lease();
    const quest = acceptClaimed(await read(), job);
    expect(quest).toMatchObject({ status: 'running', jobId: job.id, fence: 1, liveSince: 1_000_000 });
    await quests.update(QUEST_ID, { status: 'running', jobId: job.id, fence: 1 });
    services.claimedQuests.add(job, { quest, input: 'known' });
    const seen: unknown[] = [];
    await run(job, async (context) => {
      seen.push(context.quest, asked.updates, services.claimedQuests.get(job)?.input);
      return DONE;
    });
    expect([seen, asked.count]).toEqual([[quest, 0, 'known'], 0]);
  });

  it.each<[string, QuestRunOptions]>([
    ['a store without steps', { store: (store) => store }],
    ['a job that names nothing to read', { task: { readFirst: () => undefined } }],
    ['a kind that reads nothing', { task: {} }],
  ])('is an update with %s', async (_name, options) => {
    const { start, services, read } = await setUp(options);
    const inputs: unknown[] = [];
    await start(async (run) => {
      inputs.push(run.quest.status, services.claimedQuests.get(run.lease));
      return DONE;
    });
    expect([inputs, (await read()).status]).toEqual([['running', undefined], 'done']);
  });

  it('reads its own record among those of others', async () => {
    const { start, quests, read } = await setUp();
    const other = await read();
    for (const id of ['0', 'z']) await quests.insert({ ...other, id });
    const ids: string[] = [];
    await start(async (run) => {
      ids.push(run.quest.id);
      return DONE;
    });
    expect([ids, (await read()).status]).toEqual([[QUEST_ID], 'done']);
  });

  it('does not run a quest that was stopped', async () => {
    const { start, quests, read, asked } = await setUp();
    await stopQuest(quests, QUEST_ID, 'Enough.', 0);
    let runs = 0;
    await start(async () => {
      runs += 1;
      return DONE;
    });
    expect([runs, asked.count, (await read()).status]).toEqual([0, 1, 'stopped']);
  });
});

it('a later claim reads nothing with it', async () => {
  const { run, lease, takeOver, asked } = await setUp();
  await lease();
  await run(await takeOver(), async () => DONE);
  expect(asked.count).toBe(0);
});

it('a claim after a wait reads nothing with it', async () => {
  const { run, lease, quests, asked, read } = await setUp();
  await quests.update(QUEST_ID, { resumed: 1, fence: 1_000_000 });
  const job = await lease();
  await run({ ...job, payload: { questId: QUEST_ID, resumed: 1 } }, async () => DONE);
  expect([asked.count, await read()]).toMatchObject([0, { status: 'done', fence: 1_000_001 }]);
});
