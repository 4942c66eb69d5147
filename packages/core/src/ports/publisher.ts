import type { CallOptions } from './options.ts';

/**
 * Publishes messages to the current subscribers in all processes that share the publisher. Delivery is at most once,
 * without replay: a subscriber that missed a message reads the store.
 */
export interface Publisher {
  publish(topic: string, message: string, options?: CallOptions): Promise<void>;
  /**
   * Resolves when the subscription is active. An error of one listener does not affect the others. @returns a
   * function that unsubscribes; safe to call twice.
   */
  subscribe(topic: string, listener: (message: string) => void): Promise<() => Promise<void>>;
}
