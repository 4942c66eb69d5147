/** Lets calls begin some time apart. Real time, not an injected clock: it saves work of a busy database. */
export interface Pace {
  /** Resolves when a call may begin: the first one at once. */
  wait(): Promise<void>;
  /** The next call may begin at once. */
  skip(): void;
}

export function createPace(everyMs: number): Pace {
  let next = 0;
  return {
    async wait() {
      const now = performance.now();
      const begin = Math.max(now, next);
      next = begin + everyMs;
      if (begin > now) await new Promise((resolve) => setTimeout(resolve, begin - now));
    },
    skip() {
      next = 0;
    },
  };
}
