import { createFakeClock } from '@questline/testing';
import { createMemoryStore } from '../src/memory/store.ts';
import type { Store } from '../src/ports/store.ts';
import type { PaidStepRecord } from '../src/runs/holds.ts';
import type { LiveEvent } from '../src/runs/live-event.ts';
import { createProgressWriter } from '../src/runs/progress-writer.ts';
import { newQuest, QUESTS, type QuestRecord } from '../src/runs/records.ts';
import { QUEST_TEXTS } from '../src/runs/text-pieces.ts';

export const ID = 'q1';
const HOLDER = { id: 'job', fence: 2 };
export const CARD = { type: 'card', title: 'one' } as never;
export const OTHER_CARD = { type: 'card', title: 'two' } as never;

interface Options {
  readonly quest?: Partial<QuestRecord>;
  readonly change?: (store: Store) => Store;
  readonly lookEveryMs?: number;
}

/** A writer of a running quest. */
export async function openProgress({
  quest: more,
  change = (store) => store,
  lookEveryMs = 1e9,
}: Options = {}) {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const quests = store.collection(QUESTS);
  const texts = store.collection(QUEST_TEXTS);
  const request = { payer: { account: 'user:a' }, requestId: 'r' } as never;
  const quest: QuestRecord = {
    ...newQuest({ id: ID, kind: 'chat', sessionId: 's', ownerId: 'a', request }, 0),
    ...{ status: 'running', jobId: HOLDER.id, fence: HOLDER.fence, notes: { due: [] } },
    ...more,
  };
  await quests.insert(quest);
  const followers = {
    isFollowed: () => false,
    lookEveryMs,
    see: (found?: QuestRecord) => void seen.push(found),
  };
  const seen: (QuestRecord | undefined)[] = [];
  const events: LiveEvent[] = [];
  const errors: unknown[] = [];
  const lost = { count: 0 };
  let steps: readonly PaidStepRecord[] = [];
  const writer = createProgressWriter(
    {
      ...{ store: change(store), clock, followers, steps: () => steps },
      live: { emit: (event) => void events.push(event) },
      onError: (error) => void errors.push(error),
    },
    quest,
    HOLDER,
    () => {
      lost.count += 1;
    },
  );
  return {
    ...{ clock, quests, texts, followers, seen, events, errors, lost, writer },
    read: () => quests.get(ID) as Promise<QuestRecord>,
    countPieces: () => texts.count({}),
    /** The stored text, in the record and beside it. */
    async readText() {
      const pieces = await texts.find({});
      return ((await quests.get(ID))?.text ?? '') + pieces.map(({ text }) => text).join('');
    },
    setSteps(next: readonly object[]) {
      steps = next as readonly PaidStepRecord[];
    },
    /** Says a character each 100 ms. */
    async speak(count: number) {
      for (let at = 0; at < count; at += 1) {
        writer.append('x');
        await clock.advance(100);
      }
    },
  };
}
