import type { Services } from '@questline/core';
import type { Clock } from '@questline/core/ports';
import { DEPLOYMENT } from '../storage/deployment.ts';

/** Timeout of one dependency, in milliseconds. */
const WITHIN_MS = 2000;
/** How long a result is cached, in milliseconds: frequent probes cost no more than one per second. */
const FRESH_MS = 1000;

/** The dependencies that must answer before this process can serve requests. */
export type Part = 'store' | 'queue' | 'ledger' | 'objects' | 'redis';

export interface ReadyState {
  readonly status: 'ready' | 'unavailable' | 'draining';
  /** The dependencies that failed or timed out. */
  readonly failing: readonly Part[];
}

export interface Readiness {
  readonly parts: readonly Part[];
  /** Never rejects; resolves within about two seconds. */
  check(): Promise<ReadyState>;
  /** Reports not ready from now on, whatever the dependencies answer. */
  drain(): void;
}

/** One cheap check per dependency. Rejects when the dependency does not answer. */
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
    async check() {
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

const MISSING_ACCOUNT = 'user:000000000000000000000000';

/** The checks of a workspace: each reads a record that need not exist. */
export function questionsTo(
  { store, queue, ledger, objects }: Pick<Services, 'store' | 'queue' | 'ledger' | 'objects'>,
  redis: ((signal: AbortSignal) => Promise<unknown>) | undefined,
): Questions {
  return {
    store: (signal) => store.collection(DEPLOYMENT).get('readiness', undefined, { signal }),
    queue: (signal) => queue.counts({ signal }),
    ledger: (signal) => ledger.balance(MISSING_ACCOUNT, { signal }),
    objects: (signal) => objects.head('readiness', { signal }),
    ...(redis !== undefined && { redis }),
  };
}
