import { describe, expect, it } from 'vitest';
import {
  catchFailure,
  FAILED_MESSAGE,
  LEFT_MESSAGE,
  openCircuit,
  openCompletion,
  readFrames,
} from '../../../test/completion-run.ts';
import { ProviderError } from '../../ports/models.ts';

const hello = { type: 'text', text: 'Hello' } as const;
const finish = { type: 'finish', reason: 'stop' } as const;
const STOPPED = 'stop m: the client has disconnected';

describe('streamed answer', () => {
  it('is charged and recorded before its end', async () => {
    const { stream, vendor, log, ends, incidents, streams, leftovers } = await openCompletion();
    vendor.answer.say([hello, finish]);
    const frames = await stream();
    expect(streams.size).toBe(1);
    vendor.answer.end();
    expect(await readFrames(frames)).toBe('head m|Hello|end|');
    expect(log.slice(0, 4)).toEqual(['hold call 150000', 'ask m', 'settle 120000', 'complete']);
    expect(ends).toMatchObject([{ cost: { charged: 120_000 }, isMetered: true, finishReason: 'stop' }]);
    expect(incidents).toEqual([]);
    expect(leftovers()).toEqual([0, 0, 0]);
  });

  it('begins after ten seconds without an output', async () => {
    const { stream, vendor, clock, settle, log, leftovers } = await openCompletion();
    const opening = stream();
    await settle();
    await clock.advance(10_000);
    const reading = readFrames(await opening);
    vendor.answer.fail(new Error('gone'));
    expect(await reading).toBe(`head m|${FAILED_MESSAGE}|`);
    expect(log.slice(2, 5)).toEqual(['stop m: gone', 'release', 'break false']);
    expect(leftovers()).toEqual([0, 0, 0]);
  });

  it('is that of a fallback model, whose name it has', async () => {
    const { stream, vendor, others, log } = await openCompletion({ standIns: ['s'] });
    vendor.refuse(new ProviderError('timeout', 'gone'));
    others[0]?.answer.say(hello);
    others[0]?.answer.end();
    expect(await readFrames(await stream())).toBe('head s|Hello|end|');
    expect(log.slice(3, 7)).toEqual(['hold call:1 150000', 'ask s', 'settle 120000', 'complete']);
  });
});

describe('streamed answer that fails before its head', () => {
  it('is free', async () => {
    const { stream, vendor, log, incidents, leftovers, balance } = await openCompletion();
    vendor.answer.fail(new Error('gone'));
    expect(await catchFailure(stream())).toBe(FAILED_MESSAGE);
    expect(log.slice(2)).toEqual([STOPPED, 'release', 'break false']);
    // The failure of a request is reported where it is answered.
    expect(incidents).toEqual([]);
    expect(leftovers()).toEqual([0, 0, 0]);
    expect(await balance()).toMatchObject({ available: 1_000_000, held: 0 });
  });

  it('needs no watch', async () => {
    const { stream, vendor, log } = await openCompletion();
    vendor.answer.fail(new Error('gone'));
    expect(await catchFailure(stream(false))).toBe(FAILED_MESSAGE);
    expect(log.slice(2)).toEqual([STOPPED, 'release']);
  });

  it('asks nothing without credit', async () => {
    const { stream, log, leftovers } = await openCompletion({ credit: 149_999 });
    expect(await catchFailure(stream())).toMatch(/^422 /);
    expect(log).toEqual(['hold call 150000', 'break false']);
    expect(leftovers()).toEqual([0, 0, 0]);
  });

  it('holds nothing while its circuit is open', async () => {
    const { stream, services, vendor, log } = await openCompletion();
    await openCircuit(services, vendor.entry);
    expect(await catchFailure(stream())).toBe('503 The model provider is overloaded. Try again shortly.');
    expect(log).toEqual(['break false']);
  });

  it('waits for the record of its break', async () => {
    let record = (): void => undefined;
    const onBreak = (): Promise<void> =>
      new Promise((resolve) => {
        record = resolve;
      });
    const { stream, vendor, settle } = await openCompletion({ watch: { onBreak } });
    vendor.answer.fail(new Error('gone'));
    let isOver = false;
    const failing = catchFailure(stream()).finally(() => {
      isOver = true;
    });
    await settle();
    await settle();
    expect(isOver).toBe(false);
    record();
    expect(await failing).toBe(FAILED_MESSAGE);
  });
});

describe('client that leaves before the head', () => {
  it.each([[[]], [['s']]])(
    'pays nothing before the provider accepts the call, with fallbacks %j',
    async (standIns) => {
      const { stream, vendor, leaving, settle, log, leftovers } = await openCompletion({ standIns });
      const accept = vendor.wait();
      const opening = catchFailure(stream());
      await settle();
      leaving.abort();
      expect(await opening).toBe(LEFT_MESSAGE);
      expect(log.slice(2)).toEqual([expect.stringMatching('stop m: '), 'release', 'break false']);
      accept();
      await settle();
      expect(log.slice(5)).toEqual(['cancel m']);
      expect(leftovers()).toEqual([0, 0, 0]);
    },
  );

  it.each([[[]], [['s']]])('pays the input after that, with fallbacks %j', async (standIns) => {
    const { stream, leaving, settle, log, leftovers } = await openCompletion({ standIns });
    const opening = catchFailure(stream());
    await settle();
    leaving.abort();
    expect(await opening).toBe(LEFT_MESSAGE);
    expect(log.filter((entry) => !entry.startsWith('stop m: '))).toEqual(
      expect.arrayContaining(['cancel m', 'settle 100000', 'break true']),
    );
    expect(log.filter((entry) => entry === 'cancel m')).toHaveLength(1);
    expect(log.at(-1)).toBe('break true');
    expect(leftovers()).toEqual([0, 0, 0]);
  });
});
