import type { Publisher } from '@questline/core/ports';
import { expect } from 'vitest';
import { aborting, inParallel } from './parallel.ts';
import { type Case, registerSuite, type Subject, type SuiteOptions } from './suite.ts';

export interface PublisherSubject extends Subject {
  readonly publisher: Publisher;
  /** Further handles on the same engine, like other processes: all receive what one publishes. */
  readonly peers?: readonly Publisher[];
}

export type PublisherCase = Case<PublisherSubject>;

const TOPIC = 'session:1';

const behaviour: readonly PublisherCase[] = [
  {
    name: 'delivers messages of its topic to a listener unchanged and in order',
    section: 'behaviour',
    async run(subject) {
      const heard = await listen(subject, subject.publisher);
      const messages = ['first', '', 'caf\u00e9 \u{1f30d}\n"quoted" \\ \r\n', JSON.stringify({ a: 1 })];
      for (const message of messages) await subject.publisher.publish(TOPIC, message);
      await heard.reaches(messages.length);
      expect(heard.messages).toEqual(messages);
    },
  },
  {
    name: 'keeps topics apart',
    section: 'behaviour',
    async run(subject) {
      const { publisher } = subject;
      const heard = await listen(subject, publisher);
      for (const other of ['session:10', 'session', 'session:*', 'SESSION:1', 'session:1 ']) {
        await publisher.publish(other, 'of another topic');
      }
      const patterns = await listen(subject, publisher, 'session:*');
      await publisher.publish(TOPIC, 'last');
      await heard.reaches(1);
      await heard.settles();
      expect(heard.messages).toEqual(['last']);
      expect(patterns.messages).toEqual([]);
    },
  },
  {
    name: 'accepts a message without listeners',
    section: 'behaviour',
    async run({ publisher }) {
      await publisher.publish(TOPIC, 'into the void');
    },
  },
  {
    name: 'does not replay earlier messages',
    section: 'behaviour',
    async run(subject) {
      await subject.publisher.publish(TOPIC, 'before');
      const heard = await listen(subject, subject.publisher);
      await subject.publisher.publish(TOPIC, 'after');
      await heard.reaches(1);
      await heard.settles();
      expect(heard.messages).toEqual(['after']);
    },
  },
  {
    name: 'delivers every message once to every listener, here and on every peer',
    section: 'behaviour',
    async run(subject) {
      const all = [subject.publisher, ...(subject.peers ?? [])];
      const listeners = [];
      for (const publisher of [...all, subject.publisher]) listeners.push(await listen(subject, publisher));
      for (const [at, publisher] of all.entries()) await publisher.publish(TOPIC, `from ${at}`);
      for (const heard of listeners) {
        await heard.reaches(all.length);
        await heard.settles();
        expect([...heard.messages].sort()).toEqual(all.map((_, at) => `from ${at}`).sort());
      }
    },
  },
  {
    name: 'stops delivering to an ended subscription and continues for the others',
    section: 'behaviour',
    async run(subject) {
      const { publisher } = subject;
      const ended = await listen(subject, publisher);
      const lasting = await listen(subject, publisher);
      await publisher.publish(TOPIC, 'one');
      await ended.reaches(1);
      await ended.end();
      await ended.end();
      await publisher.publish(TOPIC, 'two');
      await lasting.reaches(2);
      await ended.settles();
      expect(ended.messages).toEqual(['one']);
      await lasting.end();
      const again = await listen(subject, publisher);
      await publisher.publish(TOPIC, 'three');
      await again.reaches(1);
      expect(again.messages).toEqual(['three']);
    },
  },
  {
    name: 'treats one function subscribed twice as two subscriptions',
    section: 'behaviour',
    async run(subject) {
      const { publisher } = subject;
      const messages: string[] = [];
      const listener = (message: string) => {
        messages.push(message);
      };
      const end = await publisher.subscribe(TOPIC, listener);
      await publisher.subscribe(TOPIC, listener);
      await publisher.publish(TOPIC, 'one');
      await waitFor(subject, () => messages.length >= 2);
      await end();
      await end();
      await publisher.publish(TOPIC, 'two');
      await waitFor(subject, () => messages.length >= 3);
      await settle(subject);
      expect(messages).toEqual(['one', 'one', 'two']);
    },
  },
  {
    name: 'continues for the others when a listener throws',
    section: 'behaviour',
    async run(subject) {
      const { publisher } = subject;
      await publisher.subscribe(TOPIC, () => {
        throw new Error('a listener of bad manners');
      });
      const heard = await listen(subject, publisher);
      await publisher.publish(TOPIC, 'one');
      await publisher.publish(TOPIC, 'two');
      await heard.reaches(2);
      expect(heard.messages).toEqual(['one', 'two']);
    },
  },
  {
    name: 'lets a listener unsubscribe and publish while it runs',
    section: 'behaviour',
    async run(subject) {
      const { publisher } = subject;
      const other = await listen(subject, publisher, 'session:2');
      let calls = 0;
      const pending: Promise<void>[] = [];
      const end = await publisher.subscribe(TOPIC, (message) => {
        calls += 1;
        pending.push(end(), publisher.publish('session:2', message));
      });
      await publisher.publish(TOPIC, 'one');
      await other.reaches(1);
      await Promise.all(pending);
      await publisher.publish(TOPIC, 'two');
      await settle(subject);
      expect(calls).toBe(1);
    },
  },
];

const races: readonly PublisherCase[] = [
  {
    name: 'neither loses nor repeats any of 100 parallel messages',
    section: 'race',
    async run(subject) {
      const all = [subject.publisher, ...(subject.peers ?? [])];
      const heard = await listen(subject, subject.publisher);
      await inParallel(100, all, (publisher, at) => publisher.publish(TOPIC, `message ${at}`));
      await heard.reaches(100);
      await heard.settles();
      expect(heard.messages).toHaveLength(100);
      expect(new Set(heard.messages).size).toBe(100);
    },
  },
  {
    name: 'keeps exactly the remaining subscriptions after parallel changes',
    section: 'race',
    async run(subject) {
      const { publisher } = subject;
      const listeners = await inParallel(20, [publisher], () => listen(subject, publisher));
      await Promise.all(listeners.map((heard, at) => (at % 2 === 0 ? heard.end() : undefined)));
      await publisher.publish(TOPIC, 'one');
      for (const [at, heard] of listeners.entries()) if (at % 2 === 1) await heard.reaches(1);
      await settle(subject);
      expect(listeners.map(({ messages }) => messages.length)).toEqual(
        listeners.map((_, at) => (at % 2 === 0 ? 0 : 1)),
      );
    },
  },
];

const aborts: readonly PublisherCase[] = (['before', 'during'] as const).map((when) => ({
  name: `delivers once or not at all when a publication is aborted ${when} the call`,
  section: 'abort',
  async run(subject) {
    const heard = await listen(subject, subject.publisher);
    const attempt = await aborting(when, (signal) => subject.publisher.publish(TOPIC, 'one', { signal }));
    if (attempt.isDone) await heard.reaches(1);
    await subject.publisher.publish(TOPIC, 'two');
    await waitFor(subject, () => heard.messages.includes('two'));
    expect([['two'], ['one', 'two']]).toContainEqual(heard.messages);
  },
}));

/** The cases of every publisher. */
export const publisherCases: readonly PublisherCase[] = [...behaviour, ...races, ...aborts];

/** Registers the conformance suite of `Publisher` as tests. */
export function publisherSuite(options: SuiteOptions<PublisherSubject>): void {
  registerSuite('publisher', publisherCases, options);
}

async function listen(subject: PublisherSubject, publisher: Publisher, topic = TOPIC) {
  const messages: string[] = [];
  const end = await publisher.subscribe(topic, (message) => {
    messages.push(message);
  });
  return {
    messages: messages as readonly string[],
    end,
    /** Waits for a number of messages, or fails. */
    reaches: (count: number) => waitFor(subject, () => messages.length >= count),
    /** Waits long enough for an unexpected message. */
    settles: () => settle(subject),
  };
}

async function waitFor({ time }: PublisherSubject, holds: () => boolean): Promise<void> {
  for (let step = 0; step < 100; step += 1) {
    if (holds()) return;
    await time.advance(time.unit / 10);
  }
  expect(holds(), 'a message that did not arrive').toBe(true);
}

async function settle({ time }: PublisherSubject): Promise<void> {
  await time.advance(time.unit / 2);
}
