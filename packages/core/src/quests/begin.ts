import type { Call } from '../call.ts';
import type { Intake } from '../engine/intake.ts';
import type { AcceptedWork, Idempotency } from '../idempotency.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobQueue, NewJob } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import { QUESTS } from './records.ts';
import { stopQuest } from './transitions.ts';

export interface BeginServices {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly intake: Intake;
  readonly idempotency: Idempotency;
}

/**
 * Accepts a quest, once under an `Idempotency-Key`, and queues its job.
 * @param jobOf the job of the quest with this id.
 */
export type BeginQuest = <A extends { readonly id: string }>(
  request: { readonly call: Call; readonly path: string; readonly body: unknown },
  prepare: () => Promise<AcceptedWork<A>>,
  jobOf: (id: string) => NewJob,
) => Promise<A>;

const NOT_QUEUED = 'This could not be taken on. Please try again.';

export function createBeginQuest({ store, queue, clock, intake, idempotency }: BeginServices): BeginQuest {
  const quests = store.collection(QUESTS);

  const withdraw = async (id: string): Promise<void> => {
    try {
      await stopQuest(quests, id, NOT_QUEUED, clock.now());
    } catch {
      // Then the sweep finds it, and it is done after all.
    }
  };

  return async (request, prepare, jobOf) => {
    intake.admit();
    const { answer, isRepeated, isRepeatable } = await idempotency.accept(request, prepare);
    const { id } = answer;
    // Whoever accepted it first may have died before it came here.
    if (isRepeated && (await quests.get(id, { status: 'pending' })) === undefined) return answer;
    try {
      await queue.enqueue(jobOf(id));
    } catch (error) {
      // Who is told that it failed asks again. Only under a key is that the same quest; any other is not to be paid for.
      if (!isRepeatable) await withdraw(id);
      throw error;
    }
    return answer;
  };
}
