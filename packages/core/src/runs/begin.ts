import type { JobSlots } from '../jobs/job-slots.ts';
import type { AdmissionControl } from '../operations/admission-control.ts';
import type { AcceptedWork, Idempotency, IdempotentRequest } from '../operations/idempotency.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobQueue, NewJob } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import { openJob } from './open-job.ts';
import { QUESTS } from './records.ts';
import { closeStopped, stopQuest } from './transitions.ts';
import type { WorkLine } from './work-line.ts';

export interface BeginServices {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly jobSlots: JobSlots;
  readonly clock: Clock;
  readonly admissionControl: AdmissionControl;
  readonly workLine: WorkLine;
  readonly idempotency: Idempotency;
}

/** Accepts a quest, once per `Idempotency-Key`, and enqueues its job. @param toJob creates the job of the quest. */
export type BeginQuest = <A extends { readonly id: string }>(
  request: IdempotentRequest<A>,
  prepare: () => Promise<AcceptedWork<A>>,
  toJob: (id: string, answer: A) => NewJob,
) => Promise<A>;

const NOT_QUEUED = 'This could not be taken on. Please try again.';

export function createBeginQuest(services: BeginServices): BeginQuest {
  const { store, queue, clock, admissionControl, workLine, idempotency } = services;
  const quests = store.collection(QUESTS);

  const withdraw = async (id: string): Promise<void> => {
    try {
      await stopQuest(quests, id, NOT_QUEUED, clock.now());
      // No worker gets its job.
      await closeStopped(quests, id, {});
    } catch {
      // The sweep finds the quest and enqueues it.
    }
  };

  return async (request, prepare, toJob) => {
    admissionControl.admit();
    const admission = workLine.open(request.call.caller.userId);
    const opened = openJob(services);
    let isStored = false;
    let isWritten = false;
    try {
      const accepted = await idempotency.accept(
        request,
        () => {
          const entering = admission.enter();
          return entering === undefined ? prepare() : entering.then(prepare);
        },
        queue.writes && ((answer) => opened.toWrite(toJob(answer.id, answer))),
      );
      isWritten = accepted.isWhole;
      const { answer, isRepeated, isRepeatable, isWhole } = accepted;
      const { id } = answer;
      // The process that accepted it may have crashed before it enqueued the job.
      const hasJob = isWhole || (isRepeated && (await quests.get(id, { status: 'pending' })) === undefined);
      if (!hasJob) {
        try {
          await queue.enqueue(toJob(id, answer));
        } catch (error) {
          // The client retries after an error. Only a retry with a key gets the same quest, so any other quest must not
          // run and be charged.
          if (!isRepeatable) await withdraw(id);
          throw error;
        }
      }
      isStored = true;
      return answer;
    } finally {
      opened.end(isWritten);
      admission.end(isStored);
    }
  };
}
