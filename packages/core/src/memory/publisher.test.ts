import { expect, it } from 'vitest';
import { createMemoryMailer } from './mailer.ts';
import { createMemoryPublisher } from './publisher.ts';

function setUp() {
  const errors: unknown[] = [];
  const publisher = createMemoryPublisher({ onError: (error) => void errors.push(error) });
  const heard: string[] = [];
  const listen = (name: string) =>
    publisher.subscribe('topic', (message) => heard.push(`${name} ${message}`));
  return { publisher, errors, heard, listen };
}

it('goes on after the failure of a listener, which is reported', async () => {
  const { publisher, errors, heard, listen } = setUp();
  const error = new Error('deaf');
  await publisher.subscribe('topic', () => {
    throw error;
  });
  await listen('a');
  await publisher.publish('topic', '1');
  expect([heard, errors]).toEqual([['a 1'], [error]]);
});

it('ends one subscription, also if it is ended twice', async () => {
  const { publisher, heard, listen } = setUp();
  const end = await listen('a');
  await end();
  const endOther = await listen('b');
  await end();
  await publisher.publish('topic', '1');
  await listen('c');
  await endOther();
  await publisher.publish('topic', '2');
  expect(heard).toEqual(['b 1', 'c 2']);
});

it('does not call a listener that an earlier one has ended', async () => {
  const { publisher, heard, listen } = setUp();
  let endOther = async (): Promise<void> => undefined;
  await publisher.subscribe('topic', () => void endOther());
  endOther = await listen('a');
  await publisher.publish('topic', '1');
  expect(heard).toEqual([]);
});

it('publishes and sends nothing for a signal that is aborted', async () => {
  const { publisher, heard, listen } = setUp();
  await listen('a');
  const options = { signal: AbortSignal.abort(new Error('left')) };
  await expect(publisher.publish('topic', '1', options)).rejects.toThrow('left');
  const mailer = createMemoryMailer();
  const mail = { to: 'ada@example.com', subject: 's', text: 't', html: 'h' };
  await expect(mailer.send(mail, options)).rejects.toThrow('left');
  expect([heard, mailer.sent]).toEqual([[], []]);
});
