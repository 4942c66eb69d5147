import { describe, expect, it } from 'vitest';
import { openScriptedStream } from '../../../test/completion-stream.ts';

const END = { done: true, value: undefined };
const hello = { type: 'text', text: 'Hello' } as const;

describe('client that disconnects', () => {
  it('stops the provider, and ends the frames', async () => {
    const { stream, answer, leaving, log, seen, settle, leftovers } = openScriptedStream();
    await stream.next();
    const reading = stream.next();
    leaving.abort();
    expect(await reading).toEqual(END);
    expect(log).toEqual(['leave', 'finalize', 'cancel']);
    expect(leftovers()).toEqual([0, 0]);
    answer.say(hello);
    await settle();
    expect(seen).toEqual([]);
  });

  it('stops the provider once, by its signal and as it stops to read', async () => {
    const { stream, leaving, log } = openScriptedStream();
    await stream.next();
    leaving.abort();
    expect(await stream.return()).toEqual(END);
    expect(await stream.return()).toEqual(END);
    await stream.leave();
    expect(await stream.next()).toEqual(END);
    expect(log).toEqual(['leave', 'finalize', 'cancel']);
  });

  it('stops the provider before the first read', async () => {
    const { stream, log, settle, leftovers } = openScriptedStream();
    expect(await stream.return()).toEqual(END);
    await settle();
    expect(await stream.next()).toEqual(END);
    expect(log).toEqual(['leave', 'finalize', 'cancel']);
    expect(leftovers()).toEqual([0, 0]);
  });

  it('stops nothing after the end', async () => {
    const { stream, answer, log } = openScriptedStream();
    await stream.next();
    answer.end();
    await stream.next();
    expect(await stream.return()).toEqual(END);
    expect(log).toEqual(['finish', 'finalize']);
  });

  it('stops nothing while the answer is settled', async () => {
    let settled = (_frames: string): void => undefined;
    const { stream, answer, log, settle } = openScriptedStream({
      finish: () =>
        new Promise((resolve) => {
          settled = resolve;
        }),
    });
    await stream.next();
    answer.end();
    await settle();
    await stream.leave();
    expect(log).toEqual(['finish']);
    settled('finished|');
    await settle();
    expect(await stream.return()).toEqual(END);
    expect(log).toEqual(['finish', 'finalize']);
  });

  it('resolves its leaving once the provider is stopped', async () => {
    let stopped = (): void => undefined;
    const { stream, log, settle } = openScriptedStream({
      leave: () =>
        new Promise((resolve) => {
          stopped = resolve;
        }),
    });
    await stream.next();
    let hasLeft = false;
    void stream.leave();
    const leaving = stream.leave().then(() => {
      hasLeft = true;
    });
    await settle();
    expect([hasLeft, log]).toEqual([false, ['leave']]);
    stopped();
    await leaving;
    expect(log).toEqual(['leave', 'cancel']);
  });
});
