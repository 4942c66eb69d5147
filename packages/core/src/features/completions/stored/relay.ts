/** Characters that wait for a client. A client that is slower loses its connection, and can resume. */
const MAX_WAITING = 262_144;

/** Hands frames to a client that may be slow or disconnect, without delaying their source. */
export interface Relay {
  readonly frames: AsyncIterableIterator<string, undefined>;
  push(text: string): void;
  /** Ends the frames after those that wait. */
  end(): void;
}

export function createRelay(): Relay {
  let waiting = '';
  let isOver = false;
  let reader: ((step: IteratorResult<string, undefined>) => void) | undefined;

  const settle = (): void => {
    if (reader === undefined) return;
    if (waiting !== '') {
      reader({ done: false, value: waiting });
      waiting = '';
    } else if (isOver) reader({ done: true, value: undefined });
    else return;
    reader = undefined;
  };

  return {
    frames: {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: () =>
        new Promise((resolve) => {
          reader = resolve;
          settle();
        }),
      async return() {
        waiting = '';
        isOver = true;
        settle();
        return { done: true, value: undefined };
      },
    },
    push(text) {
      if (isOver) return;
      waiting += text;
      if (waiting.length > MAX_WAITING) {
        waiting = '';
        isOver = true;
      }
      settle();
    },
    end() {
      isOver = true;
      settle();
    },
  };
}
