import { describe, expect, it } from 'vitest';
import {
  catchFailure,
  FAILED_MESSAGE,
  openCompletion,
  STOPPED_MESSAGE,
} from '../../../test/completion-run.ts';
import { ProviderError } from '../../ports/models.ts';

const hello = { type: 'text', text: 'Hello' } as const;
const gone = new ProviderError('failed', 'gone');
const INCIDENT = { operation: 'ask', requestId: 'r-1', error: gone };

describe('failure of a provider that a disconnect or a stop of the process follows', () => {
  it.each(['leave', 'stop'] as const)(
    'is answered and reported before the first output: %s',
    async (whileEnding) => {
      const { read, vendor, log, incidents, leftovers } = await openCompletion({ whileEnding });
      vendor.answer.fail(gone);
      expect(await catchFailure(read())).toBe(FAILED_MESSAGE);
      expect(incidents).toEqual([INCIDENT]);
      expect(log).toEqual(['hold call 150000', 'ask m', 'cancel m', 'stop m: gone', 'release']);
      expect(leftovers()).toEqual([0, 0, 0]);
    },
  );

  it.each(['leave', 'stop'] as const)(
    'is answered, reported and charged after it: %s',
    async (whileEnding) => {
      const { read, vendor, log, incidents } = await openCompletion({ whileEnding });
      vendor.answer.say(hello);
      vendor.answer.fail(gone);
      expect(await catchFailure(read())).toBe(FAILED_MESSAGE);
      expect(incidents).toEqual([INCIDENT]);
      expect(log.slice(2)).toEqual(['cancel m', 'stop m: gone', 'settle 120000', 'charge']);
    },
  );

  it('is answered before the head of a stream', async () => {
    const { stream, vendor, log, leftovers } = await openCompletion({ whileEnding: 'leave' });
    vendor.answer.fail(gone);
    expect(await catchFailure(stream())).toBe(FAILED_MESSAGE);
    expect(log.slice(2)).toEqual(['stop m: the client has disconnected', 'release', 'break false']);
    expect(leftovers()).toEqual([0, 0, 0]);
  });
});

describe('stop of the process that a disconnect follows', () => {
  it('is answered', async () => {
    const { read, vendor, stop, settle, incidents } = await openCompletion({ whileEnding: 'leave' });
    const reading = catchFailure(read());
    vendor.answer.say(hello);
    await settle();
    stop();
    expect(await reading).toBe(STOPPED_MESSAGE);
    expect(incidents).toEqual([]);
  });
});
