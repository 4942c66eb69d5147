import { describe, expect, it } from 'vitest';
import { openScriptedStream } from '../../../test/completion-stream.ts';
import { isApiError } from '../../shared/errors.ts';

const RESTART = 'The service is about to restart. Try again shortly.';
const END = { done: true, value: undefined };
const frames = (value: string) => ({ done: false, value });

type Answer = ReturnType<typeof openScriptedStream>['answer'];

describe('frames of a completion', () => {
  it('are the head, one write per step, and the last frames', async () => {
    const { stream, answer } = openScriptedStream();
    expect(stream[Symbol.asyncIterator]()).toBe(stream);
    expect(await stream.next()).toEqual(frames('head|'));
    answer.say([text('a'), text('b')]);
    expect(await stream.next()).toEqual(frames('ab|'));
    const reading = stream.next();
    answer.say(text('c'));
    expect(await reading).toEqual(frames('c|'));
    answer.end();
    expect(await stream.next()).toEqual(frames('finished|'));
    expect(await stream.next()).toEqual(END);
  });

  it('leave out a step that gives none', async () => {
    const { stream, answer } = openScriptedStream();
    await stream.next();
    const reading = stream.next();
    answer.say({ type: 'finish', reason: 'stop' });
    answer.say(text('a'));
    expect(await reading).toEqual(frames('a|'));
  });

  it('wait for their reader, who asks for one step at a time', async () => {
    const { stream, answer, settle } = openScriptedStream();
    await stream.next();
    answer.say(text('a'));
    answer.say(text('b'));
    await settle();
    expect(answer.reads).toBe(1);
    expect(await stream.next()).toEqual(frames('a|'));
    expect(await stream.next()).toEqual(frames('b|'));
    expect(answer.reads).toBe(2);
  });

  it('are counted before they are sent', async () => {
    const { stream, answer, seen } = openScriptedStream();
    await stream.next();
    answer.say(text('a'));
    await stream.next();
    answer.say([text('b'), text('c')]);
    await stream.next();
    expect(seen).toEqual([text('a'), text('b'), text('c')]);
  });

  it('keep a silent connection open, each ten seconds after the write before', async () => {
    const { stream, answer, clock } = openScriptedStream();
    await stream.next();
    await clock.advance(1);
    answer.say(text('a'));
    await stream.next();
    let heard: string | undefined;
    const reading = stream.next().then(({ value }) => {
      heard = value;
    });
    await clock.advance(9999);
    expect(heard).toBeUndefined();
    await clock.advance(1);
    expect(heard).toBe(': keep-alive\n\n');
    await reading;
    heard = undefined;
    const next = stream.next().then(({ value }) => {
      heard = value;
    });
    await clock.advance(9999);
    expect(heard).toBeUndefined();
    await clock.advance(1);
    expect(heard).toBe(': keep-alive\n\n');
    await next;
  });

  it('keep a connection open with the frames of their own wire', async () => {
    const { stream, clock } = openScriptedStream({ keepAlive: () => 'ping|' });
    await stream.next();
    await clock.advance(10_000);
    expect(await stream.next()).toEqual(frames('ping|'));
  });

  it('keep no connection open whose reader has not taken the last write', async () => {
    const { stream, answer, clock, settle } = openScriptedStream();
    await stream.next();
    answer.say(text('a'));
    await settle();
    await clock.advance(30_000);
    expect(await stream.next()).toEqual(frames('a|'));
  });

  it('leave no timer and no listener behind', async () => {
    const { stream, answer, leftovers } = openScriptedStream();
    expect(leftovers()).toEqual([0, 0]);
    await stream.next();
    expect(leftovers()).toEqual([1, 1]);
    answer.end();
    await stream.next();
    expect(leftovers()).toEqual([0, 0]);
  });
});

describe('interrupted frames of a completion', () => {
  it('end with the failure of the provider, which is not cancelled', async () => {
    const { stream, answer, log } = openScriptedStream();
    await stream.next();
    answer.fail(new Error('gone'));
    expect(await stream.next()).toEqual(frames('gone|'));
    expect(await stream.next()).toEqual(END);
    expect(log).toEqual(['fail gone', 'finalize']);
  });

  it('end with a failure of the encoder, and cancel the provider', async () => {
    const { stream, answer, log } = openScriptedStream();
    await stream.next();
    answer.say({ type: 'text' } as never);
    expect(await stream.next()).toEqual(frames('a part without text|'));
    expect(log).toEqual(['fail a part without text', 'cancel']);
  });

  it('end with a failure of the settlement', async () => {
    const { stream, answer, log } = openScriptedStream({
      finish: () => Promise.reject(new Error('not settled')),
    });
    await stream.next();
    answer.end();
    expect(await stream.next()).toEqual(frames('not settled|'));
    expect(log).toEqual(['finish', 'fail not settled', 'cancel']);
  });

  it('end with an error that the provider throws', async () => {
    const { stream, answer, log } = openScriptedStream();
    await stream.next();
    answer.say(text('a'));
    await stream.next();
    answer.throwNext(new Error('thrown'));
    expect(await stream.next()).toEqual(frames('thrown|'));
    expect(log).toEqual(['fail thrown', 'cancel']);
  });
});

describe('frames of a process that is about to end', () => {
  it('end with a failure after those that were not read', async () => {
    const { stream, answer, log, settle } = openScriptedStream();
    await stream.next();
    answer.say(text('a'));
    await settle();
    stream.stop();
    await settle();
    expect(await stream.next()).toEqual(frames(`a|${RESTART}|`));
    expect(await stream.next()).toEqual(END);
    expect(log).toEqual([`fail ${RESTART}`, 'cancel', 'finalize']);
  });

  it('are only the failure before the first read', async () => {
    const { stream, answer, leftovers } = openScriptedStream({
      fail: async (error) => `${isApiError(error) ? error.status : 0}|`,
    });
    stream.stop();
    expect(await stream.next()).toEqual(frames('503|'));
    expect(await stream.next()).toEqual(END);
    expect([answer.reads, leftovers()]).toEqual([1, [0, 0]]);
  });

  it.each([
    ['text', (answer: Answer) => answer.say(text('a'))],
    ['a failure', (answer: Answer) => answer.fail(new Error('late'))],
  ])('leave out %s that arrives later', async (_, arrive) => {
    const { stream, answer, seen, log, settle } = openScriptedStream({
      fail: () => new Promise(() => undefined),
    });
    await stream.next();
    stream.stop();
    stream.stop();
    arrive(answer);
    await settle();
    expect([seen, log]).toEqual([[], [`fail ${RESTART}`, 'cancel']]);
  });

  it('stay complete after the end', async () => {
    const { stream, answer, log } = openScriptedStream();
    await stream.next();
    answer.end();
    expect(await stream.next()).toEqual(frames('finished|'));
    stream.stop();
    expect(await stream.next()).toEqual(END);
    expect(log).toEqual(['finish', 'finalize']);
  });
});

const text = (value: string) => ({ type: 'text', text: value }) as const;
