import { describe, expect, it } from 'vitest';
import { ATTEMPT, openWriter, STREAM } from '../../test/live-writer.ts';
import { KEEP_AFTER_END_MS } from './live-event.ts';

describe('another writer of the same events', () => {
  it('with a lower attempt is followed by a reset', async () => {
    const { writer, say, addOther, batches, asked } = openWriter();
    await addOther(1);
    say('mine');
    await writer.flush();
    expect(batches[1]).toMatchObject({ attempt: ATTEMPT, after: 1, events: [{ text: 'mine' }] });
    expect(batches[1]?.events).toMatchObject([{ type: 'reset-step' }]);
    expect(asked.count).toBe(0);
  });

  it.each([ATTEMPT, 7])('with attempt %i is refused where the run still owns the work', async (attempt) => {
    const { writer, say, addOther, batches, asked, memory } = openWriter();
    await addOther(attempt);
    say('mine');
    await writer.flush();
    expect(batches[1]).toMatchObject({ attempt: attempt + 1, after: 1, events: [{ type: 'reset-step' }] });
    expect([writer.last(), asked.count]).toEqual([2, 1]);
    expect(await memory.append(STREAM, { attempt, after: 2, events: [{}], keepMs: 1 })).toMatchObject({
      isAppended: false,
    });
  });

  it('is not taken for a batch whose answer was lost', async () => {
    for (const [attempt, count] of [
      [7, 1],
      [ATTEMPT, 2],
    ] as const) {
      let failures = 1;
      const { writer, say, addOther, read } = openWriter({}, async (_batch, next) => {
        if (failures === 0) return next();
        failures -= 1;
        throw new Error('not arrived');
      });
      say('mine');
      await writer.catchUp();
      for (let after = 0; after < count; after += 1) await addOther(attempt, after);
      await writer.catchUp();
      expect((await read())?.slice(count)).toEqual([{ type: 'reset-step', text: 'mine' }]);
    }
  });

  it('with the same attempt is followed by a reset where the run has written before', async () => {
    const { writer, say, addOther, read, asked } = openWriter();
    say('a');
    await writer.catchUp();
    await addOther(ATTEMPT, 1);
    say('b');
    await writer.catchUp();
    expect((await read())?.slice(2)).toEqual([{ type: 'reset-step', text: 'ab' }]);
    expect(asked.count).toBe(0);
  });

  it('is followed by a reset and all other events, 1,000 at a time', async () => {
    const { writer, addOther, batches } = openWriter();
    await addOther(1);
    for (let iteration = 1; iteration <= 1005; iteration += 1) writer.emit({ type: 'step', iteration });
    await writer.flush();
    expect(batches.slice(1).map(({ events }) => events.length)).toEqual([1000, 6]);
    expect(writer.last()).toBe(1007);
  });

  it('ends the events of a run that has lost the work', async () => {
    const { clock, writer, say, addOther, batches, read } = openWriter({ isHeld: async () => false });
    await addOther(7);
    say('mine');
    await writer.catchUp();
    say('more');
    await clock.advance(1000);
    await writer.flush();
    await writer.close();
    expect([batches.length, clock.pending]).toEqual([1, 0]);
    expect(await read()).toEqual([{ type: 'text', text: 'other' }]);
  });

  it('with a higher attempt ends the events of a run that has written some, unasked', async () => {
    const { writer, say, addOther, batches, asked, compacted } = openWriter();
    say('mine');
    await writer.catchUp();
    await addOther(7, 1);
    say('more');
    await writer.catchUp();
    await writer.catchUp();
    await writer.close();
    expect([batches.length, asked.count, compacted]).toEqual([2, 0, []]);
  });
});

describe('the batches of a run', () => {
  it('are joined at its end', async () => {
    const { writer, say, compacted } = openWriter();
    say('a');
    await writer.catchUp();
    say('b');
    await writer.flush();
    await writer.close();
    expect(compacted).toEqual([[STREAM, KEEP_AFTER_END_MS]]);
  });

  it('are kept after the end also where the last events came before', async () => {
    const { writer, say, compacted } = openWriter();
    say('a');
    await writer.catchUp();
    await writer.close();
    expect(compacted).toEqual([[STREAM, KEEP_AFTER_END_MS]]);
  });

  it('are left as they are where there is one or none', async () => {
    const one = openWriter();
    one.say('a');
    await one.writer.flush();
    await one.writer.close();
    const none = openWriter();
    await none.writer.flush();
    await none.writer.close();
    expect([one.compacted, none.compacted, none.batches]).toEqual([[], [], []]);
  });
});
