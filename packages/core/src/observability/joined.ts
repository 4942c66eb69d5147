import type { ModelCallSpan, Observer } from './observer.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Combines observers; the first one is outermost. The result has only members that at least one observer implements,
 * so that callers can skip unused events. An error in an observer does not affect the service.
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
  if (observers.some(({ usageRejected }) => usageRejected !== undefined)) {
    joined.usageRejected = (rejection) => {
      for (const one of observers) quietly(() => one.usageRejected?.(rejection));
    };
  }
  if (observers.some(({ getTraceContext }) => getTraceContext !== undefined)) {
    joined.getTraceContext = () =>
      Object.assign({}, ...observers.map((one) => quietly(() => one.getTraceContext?.())));
  }
  return joined;
}

function joinWatches(watches: readonly (ModelCallSpan | undefined)[]): ModelCallSpan {
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
    // An error in an observer must not affect the service.
    return undefined;
  }
}
