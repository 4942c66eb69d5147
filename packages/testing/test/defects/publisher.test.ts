import { createMemoryPublisher } from '@questline/core/memory';
import type { Publisher } from '@questline/core/ports';
import { createFakeClock, fakeTime, type PublisherSubject, publisherCases } from '@questline/testing';
import { type Defect, defectTests } from './red.ts';

function defect(
  name: string,
  red: readonly string[],
  spoil: (sound: Publisher) => Partial<Publisher>,
): Defect<PublisherSubject> {
  return {
    name,
    red,
    create: async () => {
      const sound = createMemoryPublisher();
      return { publisher: { ...sound, ...spoil(sound) }, time: fakeTime(createFakeClock()) };
    },
  };
}

defectTests('publisher', publisherCases, [
  defect('replays the last message', ['does not replay earlier messages'], (sound) => {
    const last = new Map<string, string>();
    return {
      publish(topic, message) {
        last.set(topic, message);
        return sound.publish(topic, message);
      },
      async subscribe(topic, listener) {
        const message = last.get(topic);
        if (message !== undefined) listener(message);
        return sound.subscribe(topic, listener);
      },
    };
  }),
  defect('treats a topic as a pattern', ['keeps topics apart'], (sound) => {
    const patterns = new Map<string, Set<(message: string) => void>>();
    return {
      async publish(topic, message) {
        await sound.publish(topic, message);
        for (const [pattern, listeners] of patterns) {
          if (topic.startsWith(pattern)) for (const listener of listeners) listener(message);
        }
      },
      async subscribe(topic, listener) {
        if (!topic.endsWith('*')) return sound.subscribe(topic, listener);
        patterns.set(topic.slice(0, -1), new Set([listener]));
        return async () => undefined;
      },
    };
  }),
  defect('lets one listener stop the others', ['continues for the others when a listener throws'], () => {
    const topics = new Map<string, Set<{ listener: (message: string) => void }>>();
    return {
      async publish(topic, message) {
        for (const { listener } of [...(topics.get(topic) ?? [])]) listener(message);
      },
      async subscribe(topic, listener) {
        const entry = { listener };
        topics.set(topic, (topics.get(topic) ?? new Set()).add(entry));
        return async () => {
          topics.get(topic)?.delete(entry);
        };
      },
    };
  }),
  defect(
    'identifies a subscription by its function',
    ['treats one function subscribed twice as two subscriptions'],
    (sound) => {
      const ends = new Map<(message: string) => void, (() => Promise<void>)[]>();
      return {
        async subscribe(topic, listener) {
          const all = ends.get(listener) ?? [];
          ends.set(listener, [...all, await sound.subscribe(topic, listener)]);
          return async () => {
            for (const end of ends.get(listener) ?? []) await end();
          };
        },
      };
    },
  ),
  defect(
    'keeps ended subscriptions',
    [
      'stops delivering to an ended subscription and continues for the others',
      'keeps exactly the remaining subscriptions after parallel changes',
    ],
    (sound) => ({
      async subscribe(topic, listener) {
        await sound.subscribe(topic, listener);
        return async () => undefined;
      },
    }),
  ),
  defect(
    'delivers everything twice',
    ['neither loses nor repeats any of 100 parallel messages'],
    (sound) => ({
      async publish(topic, message) {
        await sound.publish(topic, message);
        await sound.publish(topic, message);
      },
    }),
  ),
]);
