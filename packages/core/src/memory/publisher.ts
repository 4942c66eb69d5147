import type { Publisher } from '../ports/publisher.ts';

/**
 * Creates a publisher for this process. It delivers messages in order; `publish` resolves after all listeners were
 * called. @param options.onError called with the error of a listener.
 */
export function createMemoryPublisher(options: { onError?: (error: unknown) => void } = {}): Publisher {
  const topics = new Map<string, Set<{ readonly listener: (message: string) => void }>>();

  return {
    async publish(topic, message, callOptions) {
      callOptions?.signal?.throwIfAborted();
      const subscriptions = topics.get(topic);
      if (subscriptions === undefined) return;
      for (const subscription of [...subscriptions]) {
        // An earlier listener may have unsubscribed this one.
        if (!subscriptions.has(subscription)) continue;
        try {
          subscription.listener(message);
        } catch (error) {
          options.onError?.(error);
        }
      }
    },

    async subscribe(topic, listener) {
      const subscription = { listener };
      const subscriptions = topics.get(topic) ?? new Set();
      subscriptions.add(subscription);
      topics.set(topic, subscriptions);
      return async () => {
        subscriptions.delete(subscription);
        if (subscriptions.size === 0 && topics.get(topic) === subscriptions) topics.delete(topic);
      };
    },
  };
}
