import type { CallOptions } from './options.ts';

/**
 * Messages to whoever listens right now, in every process that shares the publisher. At most once, no replay: a
 * listener that missed one reads the store.
 */
export interface Publisher {
  publish(topic: string, message: string, options?: CallOptions): Promise<void>;
  /** Resolves when the subscription is active. @returns ends the subscription; safe to call twice. A throwing listener harms no other. */
  subscribe(topic: string, listener: (message: string) => void): Promise<() => Promise<void>>;
}
