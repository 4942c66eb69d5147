import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createCallControl } from './call-control.ts';

const REASON = new Error('left');

/** A call whose client disconnects. The test ends the reading of the report. */
function disconnect(awaitsReport: boolean) {
  const clock = createFakeClock();
  const control = createCallControl({ awaitsReport }, clock);
  let report = (): void => undefined;
  let fail = (_error: Error): void => undefined;
  const reading = new Promise<void>((resolve, reject) => {
    report = resolve;
    fail = reject;
  });
  let reads = 0;
  const ended = control.cancelAfterDisconnect(REASON, () => {
    reads += 1;
    return reading;
  });
  return { clock, control, report, fail, ended, reads: () => reads };
}

describe('cancelled call', () => {
  it('gives its reason to the provider', () => {
    const control = createCallControl({ awaitsReport: true }, createFakeClock());
    expect(control.signal.aborted).toBe(false);
    control.stop(REASON);
    expect(control.signal.reason).toBe(REASON);
  });
});

describe('call whose client disconnected', () => {
  it('is cancelled at once while its answer is incomplete', async () => {
    const { clock, control, ended, reads } = disconnect(false);
    expect(control.signal.reason).toBe(REASON);
    await ended;
    expect([reads(), clock.pending]).toEqual([0, 0]);
  });

  it('is cancelled when the report of its complete answer arrives', async () => {
    const { clock, control, report, ended, reads } = disconnect(true);
    await clock.advance(1999);
    expect([reads(), control.signal.aborted]).toEqual([1, false]);
    report();
    await ended;
    expect([control.signal.reason, clock.pending]).toEqual([REASON, 0]);
  });

  it('is cancelled after two seconds without the report', async () => {
    const { clock, control, ended } = disconnect(true);
    await clock.advance(1999);
    expect(control.signal.aborted).toBe(false);
    await clock.advance(1);
    await ended;
    expect(control.signal.reason).toBe(REASON);
  });

  it('is cancelled when the reading of its report fails', async () => {
    const { clock, control, fail, ended } = disconnect(true);
    fail(new Error('gone'));
    await ended;
    expect([control.signal.reason, clock.pending]).toEqual([REASON, 0]);
  });
});
