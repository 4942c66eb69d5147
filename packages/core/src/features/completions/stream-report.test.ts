import { describe, expect, it } from 'vitest';
import { openScriptedStream } from '../../../test/completion-stream.ts';

const hello = { type: 'text', text: 'Hello' } as const;
const usage = { type: 'usage', usage: { input: 1, output: 1 } } as const;

/** A stream that reads the rest of an answer after its client disconnected, until `isReported`. */
function openReading(isReported: () => boolean) {
  let isHeard = false;
  const opened = openScriptedStream({
    awaitsReport: () => !isReported(),
    async leave(readOn) {
      await readOn();
      isHeard = true;
    },
  });
  return { ...opened, isHeard: () => isHeard };
}

describe('report of usage after a disconnect', () => {
  it('is read by the step that is pending, and by those after it', async () => {
    let isReported = false;
    const { stream, answer, seen, isHeard, settle } = openReading(() => isReported);
    await stream.next();
    const leaving = stream.leave();
    answer.say(hello);
    await settle();
    expect([seen, answer.reads, isHeard()]).toEqual([[hello], 2, false]);
    isReported = true;
    answer.say(usage);
    await leaving;
    expect([seen, answer.reads, isHeard()]).toEqual([[hello, usage], 2, true]);
  });

  it('is asked for when no step is pending', async () => {
    let isReported = false;
    const { stream, answer, seen, settle } = openReading(() => isReported);
    await stream.next();
    answer.say(hello);
    await stream.next();
    expect(answer.reads).toBe(1);
    const leaving = stream.leave();
    await settle();
    expect(answer.reads).toBe(2);
    isReported = true;
    answer.say(usage);
    await leaving;
    expect([seen, answer.reads]).toEqual([[hello, usage], 2]);
  });

  it('is missing from an answer that ends without it', async () => {
    const { stream, answer, log, isHeard } = openReading(() => false);
    await stream.next();
    const leaving = stream.leave();
    answer.end();
    await leaving;
    expect([isHeard(), log]).toEqual([true, ['leave', 'cancel']]);
  });

  it('is missing from an answer that breaks off before it', async () => {
    const { stream, answer, log, isHeard } = openReading(() => false);
    await stream.next();
    const leaving = stream.leave();
    answer.fail(new Error('gone'));
    await leaving;
    expect([isHeard(), log]).toEqual([true, ['leave', 'cancel']]);
  });

  it('is missing from an answer with an invalid step', async () => {
    const { stream, answer, log, isHeard } = openReading(() => false);
    await stream.next();
    const leaving = stream.leave();
    answer.say({ type: 'text' } as never);
    await leaving;
    expect([isHeard(), log]).toEqual([true, ['leave', 'cancel']]);
  });

  it('is missing from a provider that throws when it is asked', async () => {
    const { stream, answer, log, isHeard } = openReading(() => false);
    await stream.next();
    answer.say(hello);
    await stream.next();
    answer.throwNext(new Error('thrown'));
    await stream.leave();
    expect([isHeard(), log]).toEqual([true, ['leave', 'cancel']]);
  });

  it('is read on while the process is about to end', async () => {
    let isReported = false;
    const { stream, answer, log, isHeard, settle } = openReading(() => isReported);
    await stream.next();
    const leaving = stream.leave();
    stream.stop();
    await settle();
    expect([isHeard(), log]).toEqual([false, ['leave']]);
    isReported = true;
    answer.say(usage);
    await leaving;
  });

  it('is asked for again after a failure of the step that was pending', async () => {
    let isStopping = (): void => undefined;
    const stopping = new Promise<void>((resolve) => {
      isStopping = resolve;
    });
    const { stream, answer, log, settle } = openScriptedStream({ leave: (readOn) => stopping.then(readOn) });
    await stream.next();
    const leaving = stream.leave();
    answer.fail(new Error('gone'));
    await settle();
    isStopping();
    answer.end();
    await leaving;
    expect([answer.reads, log]).toEqual([2, ['leave', 'cancel']]);
  });

  it('is no longer read once the provider is stopped', async () => {
    let stop = (): void => undefined;
    const { stream, answer, seen, settle } = openScriptedStream({
      awaitsReport: () => true,
      leave: (readOn) =>
        new Promise((resolve) => {
          void readOn();
          stop = resolve;
        }),
    });
    await stream.next();
    const leaving = stream.leave();
    answer.say(hello);
    await settle();
    stop();
    await leaving;
    answer.say(usage);
    await settle();
    expect([seen, answer.reads]).toEqual([[hello], 2]);
  });
});
