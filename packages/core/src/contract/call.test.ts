import { expect, it } from 'vitest';
import { getStopSignal } from './call.ts';

it('stops a stream with its connection, and creates no signal for it', () => {
  const connection = AbortSignal.abort();
  const call = {
    connection,
    get signal(): AbortSignal {
      throw new Error('created');
    },
  };
  expect(getStopSignal(call)).toBe(connection);
});

it('stops a stream with the signal where the host has no connection', () => {
  const { signal } = new AbortController();
  expect(getStopSignal({ signal })).toBe(signal);
});
