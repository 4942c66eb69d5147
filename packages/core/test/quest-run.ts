import { createFakeClock, createFakeIds, type FakeClock } from '@questline/testing';
import { createServices } from '../src/app/create-services.ts';
import { createMemoryEventLog } from '../src/memory/event-log.ts';
import { createMemoryLedger } from '../src/memory/ledger.ts';
import { createMemoryLimiter } from '../src/memory/limiter.ts';
import { createMemoryQueue } from '../src/memory/queue.ts';
import { createMemoryStore } from '../src/memory/store.ts';
import type { EventLog } from '../src/ports/event-log.ts';
import type { CreditLedger } from '../src/ports/ledger.ts';
import type { GenerateRequest } from '../src/ports/models.ts';
import type { JobQueue, LeasedJob } from '../src/ports/queue.ts';
import type { Store } from '../src/ports/store.ts';
import { createQuestHandler } from '../src/runs/handler.ts';
import { questJob } from '../src/runs/quest-job.ts';
import type { QuestTask } from '../src/runs/quest-task.ts';
import { newQuest, QUESTS, type QuestRecord } from '../src/runs/records.ts';
import type { RunContext } from '../src/runs/run-context.ts';
import { createRunningQuests } from '../src/runs/running.ts';
import type { Incident } from '../src/shared/incident.ts';
import { delayed, settle } from './delayed.ts';
import { PRICED } from './paid-calls.ts';

export const QUEST_ID = 'q'.repeat(24);
export const ACCOUNT = 'user:ada';
const LEASE_MS = 60_000;
/** Micro-credits. */
export const CREDIT = 100_000_000;

/** A model at 10,000 micro-credits a token. */
export const MODEL = PRICED;
/** 2 tokens of input and 100 of output. */
export const REQUEST: GenerateRequest = {
  model: 'm',
  messages: [{ role: 'user', content: [{ type: 'text', text: '12345' }] }],
  maxTokens: 100,
};
export const HELD = 1_020_000;

/** Fields of a quest; undefined ones are absent. */
export type QuestFields = { readonly [K in keyof QuestRecord]?: QuestRecord[K] | undefined };

export interface QuestRunOptions {
  /** Changes the ports of the worker. */
  readonly store?: (store: Store) => Store;
  readonly ledger?: (ledger: CreditLedger) => CreditLedger;
  readonly queue?: (queue: JobQueue) => JobQueue;
  readonly eventLog?: (eventLog: EventLog) => EventLog;
  readonly quest?: Partial<QuestRecord>;
  readonly task?: Partial<QuestTask>;
  /** Default true. */
  readonly enforceCredits?: boolean;
}

const same = <T>(port: T): T => port;

/** Advances the time, and lets delayed calls have their effects. */
function withSettling(clock: FakeClock): FakeClock {
  return {
    now: clock.now,
    timer: clock.timer,
    get pending() {
      return clock.pending;
    },
    async advance(ms) {
      await clock.advance(ms);
      for (let round = 0; round < 4; round += 1) await settle();
    },
  };
}

/** A ledger whose calls have their effect in a later turn, apart from the writes that it builds. */
function delayedLedger(ledger: CreditLedger): CreditLedger {
  const { toSettlement } = ledger;
  return { ...delayed(ledger), ...(toSettlement && { toSettlement }) };
}

/** One accepted quest, whose work the test gives, on ports in memory whose calls have their effect in a later turn. */
export async function openQuestRun(options: QuestRunOptions = {}) {
  const { enforceCredits = true } = options;
  const clock = withSettling(createFakeClock(1_000_000));
  const ownStore = createMemoryStore();
  const ownLedger = createMemoryLedger({ clock });
  await ownLedger.grant({ account: ACCOUNT, amount: CREDIT, key: 'start', reason: 'start' });
  const ownQueue = createMemoryQueue({ clock, ids: createFakeIds() });
  const queue = (options.queue ?? same)(ownQueue);
  const incidents: Incident[] = [];
  const services = createServices(
    {
      store: delayed((options.store ?? same)(ownStore)),
      ledger: delayedLedger((options.ledger ?? same)(ownLedger)),
      limiter: createMemoryLimiter(),
      eventLog: (options.eventLog ?? same)(createMemoryEventLog({ clock })),
      queue: { ...queue, enqueue: delayed(queue).enqueue },
      models: [],
      clock,
      ids: createFakeIds(),
    },
    {
      jwtSecret: 'a'.repeat(64),
      admin: { enforceCredits },
      onError: (incident) => void incidents.push(incident),
    },
  );
  const quests = ownStore.collection(QUESTS);
  const request = { payer: { account: ACCOUNT, userId: 'ada' }, requestId: 'r' };
  const quest: QuestRecord = {
    ...newQuest({ id: QUEST_ID, kind: 'work', sessionId: 's', ownerId: 'ada', request }, clock.now()),
    ...options.quest,
  };
  await quests.insert(quest);
  await ownQueue.enqueue(questJob(quest));
  const lease = async (): Promise<LeasedJob> => {
    const [job] = await ownQueue.lease({ kinds: ['work'], limit: 1, leaseMs: LEASE_MS });
    if (job === undefined) throw new Error('no job');
    return job;
  };
  /** What was stored with the end of the quest. */
  const stored: QuestRecord[] = [];
  const ended: QuestRecord[] = [];
  const runningQuests = createRunningQuests();
  const run = async (job: LeasedJob, work: QuestTask['work'], signal = new AbortController().signal) => {
    // The handler takes a failed expectation for a failure of the work.
    const failed: unknown[] = [];
    const handler = createQuestHandler(services, runningQuests, {
      ...{ kind: 'work', operation: 'do-work', concurrency: 3, phases: ['think'] },
      async work(context, payload) {
        try {
          return await work(context, payload);
        } catch (error) {
          if (error instanceof Error && error.name === 'AssertionError') failed.push(error);
          throw error;
        }
      },
      async alongside(_store, record) {
        await settle();
        stored.push(record);
      },
      ended: (record) => void ended.push(record),
      ...options.task,
    });
    const end = await handler.run(job, signal, async () => undefined);
    if (failed.length > 0) throw failed[0];
    return end;
  };
  return {
    ...{ clock, services, quests, store: ownStore, ledger: ownLedger, queue: ownQueue, incidents },
    ...{ stored, ended, lease, run, runningQuests },
    /** Runs the work with the first lease. */
    start: async (work: QuestTask['work']) => run(await lease(), work),
    /** The lease of a worker that takes over. */
    async takeOver(): Promise<LeasedJob> {
      await clock.advance(LEASE_MS);
      return lease();
    },
    read: () => quests.get(QUEST_ID) as Promise<QuestRecord>,
    balance: () => ownLedger.balance(ACCOUNT),
    /** The settled charges. */
    async charges() {
      const all = await ownLedger.charges({ account: ACCOUNT }, 100);
      return all.filter(({ status }) => status === 'settled');
    },
  };
}

/** A worker that has crashed: it never goes on. */
export const crash = (): Promise<never> => new Promise(() => undefined);

/** A quest whose first worker crashes after this work. */
export async function openCrashed(
  work: (run: RunContext, clock: FakeClock) => Promise<void>,
  options: QuestRunOptions = {},
) {
  const opened = await openQuestRun(options);
  const job = await opened.lease();
  await new Promise<void>((resolve, reject) => {
    void opened.run(job, async (run) => {
      await work(run, opened.clock).then(resolve, reject);
      return crash();
    });
  });
  const ran: string[] = [];
  return {
    ...opened,
    ran,
    /** Another worker gets the job. */
    async recover(next: QuestTask['work'] = async () => ({ type: 'message' })): Promise<LeasedJob> {
      const job = await opened.takeOver();
      await opened.run(job, (run, payload) => {
        ran.push(run.quest.id);
        return next(run, payload);
      });
      return job;
    },
  };
}
