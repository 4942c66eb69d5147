import { type ModelPart, ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { type EventDecoder, EventStream } from './event-stream.ts';
import type { Exchange } from './exchange.ts';

const text = (words: string): ModelPart => ({ type: 'text', text: words });
const event = (data: string): string => `data: ${JSON.stringify(data)}\n\n`;
const KIBIBYTE = 1024;

/** A stream whose events are texts; `end` is the final one. */
function open({ canPause = true } = {}) {
  const log: string[] = [];
  const decoder: EventDecoder = {
    event(data, parts) {
      const words = JSON.parse(data) as string;
      if (words === 'fail') throw new Error('decoder');
      if (words !== '' && words !== 'end') parts.push(text(words));
      return words === 'end';
    },
    end(parts) {
      log.push('no final event');
      parts.push({ type: 'finish', reason: 'stop' });
    },
  };
  const fault = (error: unknown) =>
    error instanceof ProviderError
      ? error
      : new ProviderError('failed', `fault: ${(error as Error).message}`);
  const stream = new EventStream(decoder, fault);
  stream.attach({
    pause() {
      log.push('pause');
      return canPause;
    },
    resume: () => void log.push('resume'),
    linger: () => void log.push('linger'),
    stop: (reason: unknown) =>
      void log.push(reason === undefined ? 'stop' : `stop: ${(reason as Error).message}`),
  } as unknown as Exchange);
  const say = (...given: (string | Buffer)[]) => {
    for (const one of given) stream.data(Buffer.from(one));
  };
  return { stream, log, say };
}

const OVER = { done: true, value: undefined };
const said = (...words: string[]) => ({ done: false, value: words.map(text) });

describe('stream of events', () => {
  it('returns all that has arrived since the last step, and then waits', async () => {
    const { stream, say, log } = open();
    say(event('a'), event('b'));
    expect(await stream.next()).toEqual(said('a', 'b'));
    const waiting = stream.next();
    say(event('c').slice(0, 5), event('c').slice(5), event(''), event('d'));
    expect(await waiting).toEqual(said('c', 'd'));
    say(event('e'), event('end'), event('f'));
    expect(await stream.next()).toEqual(said('e'));
    say(event('g'));
    stream.over(undefined);
    expect([await stream.next(), await stream.next()]).toEqual([OVER, OVER]);
    expect(log).toEqual(['linger']);
  });

  it('waits on where a read has no part', async () => {
    const { stream, say } = open();
    const waiting = stream.next();
    say(': comment\n\n');
    await Promise.resolve();
    say(event('a'));
    expect(await waiting).toEqual(said('a'));
  });

  it('joins characters whose bytes arrive apart', async () => {
    const { stream, say } = open();
    const bytes = Buffer.from(event('ä€😀'));
    for (const byte of bytes) say(Buffer.of(byte));
    expect(await stream.next()).toEqual(said('ä€😀'));
  });

  it('has one reader at a time', async () => {
    const { stream, say } = open();
    const waiting = stream.next();
    await expect(stream.next()).rejects.toThrow('the last step is still under way');
    say(event('a'));
    expect(await waiting).toEqual(said('a'));
    expect(stream[Symbol.asyncIterator]()).toBe(stream);
  });
});

describe('end of a stream', () => {
  it.each([
    ['before the read', false],
    ['during the read', true],
  ])('without a final event asks the decoder (%s)', async (_name, isReading) => {
    const { stream, say, log } = open();
    const reading = isReading ? stream.next() : undefined;
    say(event('a').trimEnd());
    stream.over(undefined);
    expect(await (reading ?? stream.next())).toEqual({
      done: false,
      value: [text('a'), { type: 'finish', reason: 'stop' }],
    });
    expect([await stream.next(), log]).toEqual([OVER, ['no final event', 'linger']]);
  });

  it('may be a final event without its blank line', async () => {
    const { stream, say, log } = open();
    say(event('end').trimEnd());
    stream.over(undefined);
    expect([await stream.next(), log]).toEqual([OVER, ['linger']]);
  });

  it.each<[string, readonly string[], { readonly error: unknown } | undefined, string]>([
    ['in the middle of an event', [event('a'), 'data: "b'], undefined, 'in the middle of an event'],
    ['by a failure', [event('a')], { error: new Error('reset') }, 'reset'],
    ['by an event that is no JSON', [event('a'), 'data: {\n\n'], undefined, 'fault: '],
    ['by an error event', [event('a'), event('fail')], undefined, 'fault: decoder'],
  ])('%s is an error after the parts before it', async (_name, given, failure, message) => {
    const { stream, say } = open();
    say(...given);
    stream.over(failure);
    expect(await stream.next()).toEqual(said('a'));
    await expect(stream.next()).rejects.toThrow(message);
    expect(await stream.next()).toEqual(OVER);
  });

  it('is not a failure of the connection after the final event', async () => {
    const { stream, say } = open();
    say(event('a'), event('end'));
    stream.over({ error: new Error('reset') });
    expect([await stream.next(), await stream.next()]).toEqual([said('a'), OVER]);
  });

  it('may be an error event without its blank line', async () => {
    const { stream, say } = open();
    say(event('fail').trimEnd());
    stream.over(undefined);
    await expect(stream.next()).rejects.toThrow('fault: decoder');
  });

  it('rejects a read that waits for the connection', async () => {
    const { stream } = open();
    const waiting = stream.next();
    stream.over({ error: new Error('reset') });
    await expect(waiting).rejects.toThrow('reset');
  });

  it('rejects a read that waits', async () => {
    const { stream, log, say } = open();
    const waiting = stream.next();
    say(event('fail'));
    await expect(waiting).rejects.toThrow('fault: decoder');
    expect([await stream.next(), log]).toEqual([OVER, ['stop']]);
  });

  it('comes with an event that is too long', async () => {
    const { stream, say } = open();
    say(`data: ${'x'.repeat(16 * KIBIBYTE * KIBIBYTE)}`, 'x');
    await expect(stream.next()).rejects.toMatchObject({
      kind: 'malformed_answer',
      message: expect.stringContaining('longer than 16777216 characters'),
    });
  });
});

describe('reader that leaves', () => {
  it('stops an answer that is not complete', async () => {
    const { stream, say, log } = open();
    const waiting = stream.next();
    expect(await stream.return()).toEqual(OVER);
    expect([await waiting, log]).toEqual([OVER, ['stop']]);
    say(event('a'));
    expect(await stream.next()).toEqual(OVER);
  });

  it('lets a complete answer end', async () => {
    const { stream, say, log } = open();
    say(event('a'), event('end'));
    await stream.next();
    await stream.return();
    expect([await stream.next(), log]).toEqual([OVER, ['linger']]);
  });
});

describe('slow reader', () => {
  const block = event('x'.repeat(32 * KIBIBYTE - event('').length));

  it('pauses the answer above 64 KiB, and resumes it with the next step', async () => {
    const { stream, say, log } = open();
    say(block, block);
    expect(log).toEqual([]);
    say('\n');
    say(block);
    expect(log).toEqual(['pause']);
    await stream.next();
    expect(log).toEqual(['pause', 'resume']);
    say(block, block);
    expect(log).toEqual(['pause', 'resume']);
    say('\n');
    expect(log).toEqual(['pause', 'resume', 'pause']);
  });

  it('pauses, and does not fail, an answer that can be paused', () => {
    const { say, log } = open();
    say(Buffer.alloc(16 * KIBIBYTE * KIBIBYTE + 1, 'x'));
    expect(log).toEqual(['pause']);
  });

  it('does not pause a complete answer', async () => {
    const { stream, say, log } = open();
    say(event('a'), event('end'));
    await stream.next();
    say(block, block, block);
    expect(log).toEqual(['linger']);
  });

  it('does not pause an answer while it reads', async () => {
    const { stream, say, log } = open();
    const waiting = stream.next();
    say(block, block, block);
    await waiting;
    expect(log).toEqual([]);
  });

  it('fails an answer that cannot be paused above 16 MiB', () => {
    const { say, log } = open({ canPause: false });
    const bytes = Buffer.alloc(16 * KIBIBYTE * KIBIBYTE, 'x');
    say(bytes);
    expect(log).toEqual(['pause']);
    say('x');
    expect(log).toEqual(['pause', 'pause', 'stop: fault: the answer came faster than it was read']);
  });
});
