import { describe, expect, it } from 'vitest';
import { catchFailure, LEFT_MESSAGE, openCompletion, STOPPED_MESSAGE } from '../../../test/completion-run.ts';

const hello = { type: 'text', text: 'Hello' } as const;
const LEFT = new Error('left');

/** Begins to read an answer. */
async function begin(standIns: readonly string[] = []) {
  const opened = await openCompletion({ standIns });
  const accept = opened.vendor.wait();
  const reading = catchFailure(opened.read());
  await opened.settle();
  return { ...opened, reading, accept };
}

describe('client that leaves a whole answer', () => {
  it.each([[[]], [['s']]])(
    'pays nothing before the provider accepts the call, with fallbacks %j',
    async (standIns) => {
      const { reading, accept, settle, leaving, log, incidents, leftovers } = await begin(standIns);
      leaving.abort(LEFT);
      expect(await reading).toBe(LEFT_MESSAGE);
      expect(log.slice(2)).toEqual(['stop m: left', 'release']);
      accept();
      await settle();
      expect(log.slice(4)).toEqual(['cancel m']);
      expect(incidents).toEqual([]);
      expect(leftovers()).toEqual([0, 0, 0]);
    },
  );

  it.each([[[]], [['s']]])('pays the input before the first output, with fallbacks %j', async (standIns) => {
    const { reading, accept, settle, leaving, log, incidents, leftovers } = await begin(standIns);
    accept();
    await settle();
    leaving.abort(LEFT);
    expect(await reading).toBe(LEFT_MESSAGE);
    expect(log.filter((entry) => entry !== 'cancel m')).toEqual([
      ...['hold call 150000', 'ask m', 'stop m: left', 'settle 100000', 'charge'],
    ]);
    expect(log.filter((entry) => entry === 'cancel m')).toHaveLength(1);
    expect(incidents).toEqual([]);
    expect(leftovers()).toEqual([0, 0, 0]);
  });

  it.each([[[]], [['s']]])('pays what it was given after that, with fallbacks %j', async (standIns) => {
    const { reading, accept, settle, leaving, vendor, parts, log, incidents, leftovers } =
      await begin(standIns);
    accept();
    vendor.answer.say(hello);
    await settle();
    expect(parts).toEqual([hello]);
    leaving.abort(LEFT);
    expect(await reading).toBe(LEFT_MESSAGE);
    expect(log.slice(2)).toEqual(['stop m: left', 'cancel m', 'settle 120000', 'charge']);
    vendor.answer.say(hello);
    await settle();
    expect(parts).toEqual([hello]);
    expect(incidents).toEqual([]);
    expect(leftovers()).toEqual([0, 0, 0]);
  });
});

describe('stop of the process during a whole answer', () => {
  it.each([[[]], [['s']]])('is free before the first output, with fallbacks %j', async (standIns) => {
    const { reading, accept, settle, stop, log, incidents, leftovers } = await begin(standIns);
    accept();
    await settle();
    stop();
    expect(await reading).toBe(STOPPED_MESSAGE);
    expect(log).toContain('release');
    expect(log.some((entry) => entry.startsWith('stop m: '))).toBe(true);
    expect(log).not.toContain('charge');
    expect(incidents).toEqual([]);
    expect(leftovers()).toEqual([0, 0, 0]);
  });

  it('is charged after it', async () => {
    const { reading, accept, settle, stop, vendor, log, incidents, leftovers } = await begin();
    accept();
    vendor.answer.say(hello);
    await settle();
    stop();
    expect(await reading).toBe(STOPPED_MESSAGE);
    expect(log.slice(2)).toEqual([
      'stop m: The service is about to restart. Try again shortly.',
      ...['cancel m', 'settle 120000', 'charge'],
    ]);
    expect(incidents).toEqual([]);
    expect(leftovers()).toEqual([0, 0, 0]);
  });
});
