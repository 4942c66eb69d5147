import { createFakeClock } from '@questline/testing';
import { expect, it } from 'vitest';
import { createRevocations, type Revocation } from './revocations.ts';

const FAILURE = new Error('the publisher has failed');

function setUp() {
  const clock = createFakeClock();
  const published: [topic: string, message: string][] = [];
  const subscribed: [topic: string, listener: (message: string) => void][] = [];
  const revoked: Revocation[] = [];
  const errors: unknown[] = [];
  const publisher = {
    ends: 0,
    fails: false,
    async publish(topic: string, message: string) {
      if (this.fails) throw FAILURE;
      published.push([topic, message]);
    },
    async subscribe(topic: string, listener: (message: string) => void) {
      subscribed.push([topic, listener]);
      if (publisher.fails) throw FAILURE;
      return async () => {
        publisher.ends += 1;
        if (publisher.fails) throw FAILURE;
      };
    },
  };
  const revocations = createRevocations({
    ...{ publisher, clock },
    onRevocation: (revocation) => revoked.push(revocation),
    onError: (error) => errors.push(error),
  });
  return { clock, publisher, revocations, published, subscribed, revoked, errors };
}

it('publishes a revocation without a subscription', async () => {
  const { clock, revocations, published, subscribed } = setUp();
  revocations.tell({ keyId: 'k' });
  revocations.tell({ userId: 'u' });
  await clock.advance(0);
  expect(published).toEqual([
    ['revocations', '{"keyId":"k"}'],
    ['revocations', '{"userId":"u"}'],
  ]);
  expect(subscribed).toEqual([]);
});

it('reports a message that could not be sent', async () => {
  const { clock, publisher, revocations, errors } = setUp();
  publisher.fails = true;
  revocations.tell({ keyId: 'k' });
  await clock.advance(0);
  expect(errors).toEqual([FAILURE]);
});

it('subscribes once, also while the subscription begins', async () => {
  const { clock, revocations, subscribed } = setUp();
  revocations.listen();
  revocations.listen();
  await clock.advance(120_000);
  revocations.listen();
  expect(subscribed.map(([topic]) => topic)).toEqual(['revocations']);
});

it('passes on the revocations of others, and no other message', () => {
  const { revocations, subscribed, revoked, errors } = setUp();
  revocations.listen();
  const [, receive] = subscribed[0] ?? [];
  const messages = [
    '{"keyId":"k"}',
    '{"userId":"u"}',
    '{"keyId":1,"userId":"v"}',
    '{"keyId":1}',
    '{"userId":1}',
  ];
  for (const message of [...messages, '', 'null', '[]', '{"keyId":"l","userId":"w"}']) receive?.(message);
  expect(revoked).toEqual([{ keyId: 'k' }, { userId: 'u' }, { userId: 'v' }, { keyId: 'l' }]);
  expect(errors).toEqual([]);
});

it('subscribes again a minute after a failure', async () => {
  const { clock, publisher, revocations, subscribed, errors } = setUp();
  publisher.fails = true;
  revocations.listen();
  await clock.advance(0);
  await clock.advance(59_999);
  revocations.listen();
  expect(subscribed).toHaveLength(1);
  expect(errors).toEqual([FAILURE]);
  publisher.fails = false;
  await clock.advance(1);
  revocations.listen();
  expect(subscribed).toHaveLength(2);
  await clock.advance(60_000);
  revocations.listen();
  expect(subscribed).toHaveLength(2);
  expect(errors).toHaveLength(1);
});

it('ends the subscription, and begins no other', async () => {
  const { clock, publisher, revocations, subscribed } = setUp();
  revocations.listen();
  await clock.advance(0);
  await revocations.close();
  expect(publisher.ends).toBe(1);
  revocations.listen();
  expect(subscribed).toHaveLength(1);
});

it('begins no subscription after its end', async () => {
  const { revocations, subscribed, errors } = setUp();
  await revocations.close();
  revocations.listen();
  expect(subscribed).toEqual([]);
  expect(errors).toEqual([]);
});

it('ends a subscription that begins after the end', async () => {
  const { clock, publisher, revocations, errors } = setUp();
  revocations.listen();
  await revocations.close();
  await clock.advance(0);
  expect(publisher.ends).toBe(1);
  expect(errors).toEqual([]);
});

it.each([true, false])('reports an end that fails, begun before: %s', async (begun) => {
  const { clock, publisher, revocations, errors } = setUp();
  revocations.listen();
  if (begun) await clock.advance(0);
  publisher.fails = true;
  await revocations.close();
  await clock.advance(0);
  expect(errors).toEqual([FAILURE]);
});

it('waits for the end of its subscription', async () => {
  const { clock, revocations, publisher } = setUp();
  const ended: string[] = [];
  publisher.subscribe = async () => async () => {
    await null;
    ended.push('subscription');
  };
  revocations.listen();
  await clock.advance(0);
  await revocations.close();
  expect(ended).toEqual(['subscription']);
});
