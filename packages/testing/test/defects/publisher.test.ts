import type { Publisher } from '@questline/core';
import { createMemoryPublisher } from '@questline/core/memory';
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
  defect('replays the last message', ['what was published before is not replayed'], (sound) => {
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
  defect('takes a topic for a pattern', ['topics know nothing of each other'], (sound) => {
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
  defect(
    'lets one listener stop the others',
    ['a listener that throws harms neither the others nor the publisher'],
    () => {
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
    },
  ),
  defect(
    'goes by the function, not the subscription',
    ['one function subscribed twice is two subscriptions'],
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
      'an ended subscription hears nothing more, the others do',
      'subscribing and ending in parallel leaves exactly those who stayed',
    ],
    (sound) => ({
      async subscribe(topic, listener) {
        await sound.subscribe(topic, listener);
        return async () => undefined;
      },
    }),
  ),
  defect('says everything twice', ['of 100 parallel messages none is lost or doubled'], (sound) => ({
    async publish(topic, message) {
      await sound.publish(topic, message);
      await sound.publish(topic, message);
    },
  })),
]);
