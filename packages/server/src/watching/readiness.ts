import type { Clock, Services } from '@questline/core';
import { DEPLOYMENT } from '../storage/deployment.ts';

/** So long a part may take to answer. */
const WITHIN_MS = 2000;
/** An answer this old is given again: whoever asks often costs no more than whoever asks once a second. */
const FRESH_MS = 1000;

/** What must answer before requests are worth sending here. */
export type Part = 'store' | 'queue' | 'ledger' | 'objects' | 'redis';

export interface ReadyState {
  readonly status: 'ready' | 'unavailable' | 'draining';
  /** Those that did not answer in time, or with a failure. */
  readonly failing: readonly Part[];
}

export interface Readiness {
  readonly parts: readonly Part[];
  /** Never rejects, and answers within about two seconds. */
  look(): Promise<ReadyState>;
  /** From now on: not ready, whatever the parts say. */
  drain(): void;
}

/** One small question each. Rejects when it is not answered. */
export type Questions = Partial<Readonly<Record<Part, (signal: AbortSignal) => Promise<unknown>>>>;

export function createReadiness(questions: Questions, clock: Clock): Readiness {
  const parts = Object.keys(questions) as Part[];
  let isDraining = false;
  let last: { readonly at: number; readonly failing: Promise<readonly Part[]> } | undefined;

  const failingNow = async (): Promise<readonly Part[]> => {
    const answers = await Promise.all(parts.map((part) => isAnswered(questions[part], clock)));
    return parts.filter((_, index) => !answers[index]);
  };

  return {
    parts,
    async look() {
      const now = clock.now();
      if (last === undefined || now - last.at >= FRESH_MS) last = { at: now, failing: failingNow() };
      const failing = await last.failing;
      if (isDraining) return { status: 'draining', failing };
      return { status: failing.length === 0 ? 'ready' : 'unavailable', failing };
    },
    drain() {
      isDraining = true;
    },
  };
}

async function isAnswered(ask: Questions[Part], clock: Clock): Promise<boolean> {
  const giveUp = new AbortController();
  let cancel = (): void => undefined;
  const late = new Promise<false>((resolve) => {
    cancel = clock.timer(WITHIN_MS, () => {
      resolve(false);
      giveUp.abort(new Error('not answered in time'));
    });
  });
  try {
    const answered = Promise.resolve(ask?.(giveUp.signal)).then(
      () => true,
      () => false,
    );
    return await Promise.race([answered, late]);
  } finally {
    cancel();
  }
}

const NOBODY = 'user:000000000000000000000000';

/** What is asked of the parts of a workspace: reading something that need not be there. */
export function questionsTo(
  { store, queue, ledger, objects }: Pick<Services, 'store' | 'queue' | 'ledger' | 'objects'>,
  redis: ((signal: AbortSignal) => Promise<unknown>) | undefined,
): Questions {
  return {
    store: (signal) => store.collection(DEPLOYMENT).get('readiness', undefined, { signal }),
    queue: (signal) => queue.counts({ signal }),
    ledger: (signal) => ledger.balance(NOBODY, { signal }),
    objects: (signal) => objects.head('readiness', { signal }),
    ...(redis !== undefined && { redis }),
  };
}
