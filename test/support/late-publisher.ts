import { createMemoryPublisher } from '@questline/core/memory';
import type { Publisher } from '@questline/core/ports';

/** A publisher whose subscriptions of some topics become active late. */
export interface LatePublisher extends Publisher {
  /** Activates the subscriptions. */
  activate(): void;
}

export function createLatePublisher(isLate: (topic: string) => boolean): LatePublisher {
  const publisher = createMemoryPublisher();
  let activate = (): void => undefined;
  const active = new Promise<void>((resolve) => {
    activate = resolve;
  });
  return {
    publish: (...args) => publisher.publish(...args),
    async subscribe(topic, listener) {
      if (isLate(topic)) await active;
      return publisher.subscribe(topic, listener);
    },
    activate: () => activate(),
  };
}
