import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LONG_TEXT, pumpBody } from '../../test/pumped-body.ts';
import { createStreamedBody, untilAsked } from '../../test/streamed-body.ts';
import { discard, isStreamed } from './pump.ts';

describe('leaving a streamed body', () => {
  it('ends its source once and writes nothing more', async () => {
    const { give, written, pump, ended, counts } = pumpBody();
    give('a');
    await untilAsked({ counts });
    pump.leave();
    pump.leave();
    give('b');
    await ended;
    await turn();
    expect(written).toEqual([]);
    expect(counts()).toMatchObject({ open: 0, returns: 1 });
  });

  it('hides a failure that follows', async () => {
    const { fail, written, pump, ended } = pumpBody();
    pump.leave();
    fail();
    await ended;
    expect(written).toEqual([]);
  });

  it('ends the wait for room', async () => {
    const { give, pump, ended, counts } = pumpBody({ room: 1 });
    give(LONG_TEXT);
    await turn();
    pump.leave();
    await ended;
    expect(counts()).toMatchObject({ open: 0, returns: 1 });
  });

  it('after its end does nothing', async () => {
    const { end, pump, ended, counts } = pumpBody();
    end();
    await ended;
    pump.leave();
    expect(counts().returns).toBe(0);
  });

  it('after its failure does nothing', async () => {
    const { fail, pump, ended, counts } = pumpBody();
    fail();
    await ended;
    pump.leave();
    expect(counts().returns).toBe(0);
  });
});

it('discards streamed bodies only', () => {
  const { body, counts } = createStreamedBody();
  expect(isStreamed(body)).toBe(true);
  discard(body);
  expect(counts().returns).toBe(1);
  for (const other of ['text', undefined, null, new Uint8Array(1), 1]) {
    expect(isStreamed(other)).toBe(false);
    discard(other);
  }
});
