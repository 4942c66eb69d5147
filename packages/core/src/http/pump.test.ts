import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LONG_TEXT, pumpBody } from '../../test/pumped-body.ts';
import { untilAsked } from '../../test/streamed-body.ts';
import { type BodySink, Pump } from './pump.ts';

describe('a streamed body', () => {
  it('has the text of one tick in one write', async () => {
    const { give, end, written, ended, pump, counts } = pumpBody();
    expect(pump.written).toBe(false);
    give('a');
    await untilAsked({ counts });
    give('b');
    await turn();
    expect(written).toEqual(['ab']);
    expect(pump.written).toBe(true);
    give('c');
    await turn();
    expect(written).toEqual(['ab', 'c']);
    end();
    await ended;
    expect(written).toEqual(['ab', 'c', 'end:']);
  });

  it('ends together with the text of its last tick', async () => {
    const written: (string | Uint8Array)[] = [];
    const sink: BodySink = {
      write: (chunk) => written.push(chunk) > 0,
      end: (rest) => written.push(`end:${rest}`),
      fail: () => undefined,
    };
    const ready = async function* () {
      yield 'a';
      yield 'b';
    };
    const pump = new Pump(ready(), sink);
    await pump.run();
    await turn();
    expect(written).toEqual(['end:ab']);
    expect(pump.written).toBe(true);
  });

  it('has bytes in a write of their own, after the text before them', async () => {
    const { give, written, counts } = pumpBody();
    const bytes = new Uint8Array([1]);
    give('a');
    await untilAsked({ counts });
    give(bytes);
    await turn();
    expect(written).toEqual(['a', bytes]);
  });

  it('does not gather text without limit in one tick', async () => {
    const { give, written, counts } = pumpBody();
    give(LONG_TEXT.slice(1));
    await untilAsked({ counts });
    expect(written).toEqual([]);
    give('y');
    await untilAsked({ counts });
    expect(written).toEqual([`${LONG_TEXT.slice(1)}y`]);
    await turn();
    expect(written).toHaveLength(1);
  });

  it('is not read on while the sink is full', async () => {
    const { give, end, written, counts, resume, ended } = pumpBody({ room: 1 });
    give(LONG_TEXT);
    await turn();
    expect(counts()).toMatchObject({ open: 0, returns: 0 });
    resume(1);
    await turn();
    expect(counts()).toMatchObject({ open: 1, returns: 0 });
    give('a');
    await turn();
    give('b');
    await turn();
    expect(written).toEqual([LONG_TEXT, 'a']);
    expect(counts().open).toBe(0);
    // The text that waited fills the sink again.
    resume(1);
    await turn();
    expect(written).toEqual([LONG_TEXT, 'a', 'b']);
    expect(counts().open).toBe(0);
    resume(1);
    await turn();
    end();
    await ended;
    expect(written.at(-1)).toBe('end:');
  });

  it('is not disturbed by a resume without need', async () => {
    const { give, end, written, resume, ended, counts } = pumpBody();
    give('a');
    await untilAsked({ counts });
    resume(5);
    expect(written).toEqual([]);
    end();
    await ended;
    expect(written).toEqual(['end:a']);
  });

  it('shows its failure, after the text before it', async () => {
    const { give, fail, written, ended, counts } = pumpBody();
    give('a');
    await untilAsked({ counts });
    fail();
    await ended;
    await turn();
    expect(written).toEqual(['a', 'fail']);
  });

  it('is stopped by a chunk that cannot be written', async () => {
    const { give, written, ended, counts } = pumpBody({ refused: 'bad' });
    give('bad');
    await turn();
    expect(written).toEqual(['fail']);
    expect(counts()).toMatchObject({ open: 1, returns: 1 });
    give('more');
    await ended;
    await turn();
    expect(written).toEqual(['fail']);
  });
});
