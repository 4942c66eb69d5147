import type { ModelCallWatch, Observer } from './observer.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Several observers as one, the first one outermost. It has only the members that somebody listens to, so that whoever
 * asks for a member knows. An observer that fails while it is told something breaks no answer.
 */
export function joinObservers(observers: readonly Observer[]): Observer | undefined {
  if (observers.length === 0) return undefined;
  const joined: Writable<Observer> = {};
  for (const observer of [...observers].reverse()) {
    const { request, job } = joined;
    const aroundRequest = observer.request?.bind(observer);
    const aroundJob = observer.job?.bind(observer);
    if (aroundRequest !== undefined) {
      joined.request = (facts, work) =>
        aroundRequest(facts, request === undefined ? work : () => request(facts, work));
    }
    if (aroundJob !== undefined) {
      joined.job = (facts, work) => aroundJob(facts, job === undefined ? work : () => job(facts, work));
    }
  }
  if (observers.some(({ modelCall }) => modelCall !== undefined)) {
    joined.modelCall = (call) => joinWatches(observers.map((one) => quietly(() => one.modelCall?.(call))));
  }
  if (observers.some(({ credit }) => credit !== undefined)) {
    joined.credit = (movement) => {
      for (const one of observers) quietly(() => one.credit?.(movement));
    };
  }
  if (observers.some(({ carry }) => carry !== undefined)) {
    joined.carry = () => Object.assign({}, ...observers.map((one) => quietly(() => one.carry?.())));
  }
  return joined;
}

function joinWatches(watches: readonly (ModelCallWatch | undefined)[]): ModelCallWatch {
  return {
    began() {
      for (const watch of watches) quietly(() => watch?.began?.());
    },
    ended(end) {
      for (const watch of watches) quietly(() => watch?.ended(end));
    },
  };
}

function quietly<T>(tell: () => T): T | undefined {
  try {
    return tell();
  } catch {
    // Whoever looks on must not break what they look at.
    return undefined;
  }
}
