import { setImmediate, setTimeout } from 'node:timers';
import { afterAll } from 'vitest';

/**
 * Fails a file that leaves faked timers to the next ones of its process. A spy on a faked timer does that: each later
 * `restoreAllMocks` restores the faked one.
 */
afterAll(() => {
  const real = { setTimeout, setImmediate };
  for (const [name, one] of Object.entries(real)) {
    if (globalThis[name as keyof typeof real] !== one) throw new Error(`${name} is still faked`);
  }
});
