import { setImmediate, setTimeout } from 'node:timers';
import { afterAll } from 'vitest';

const { fetch, Request, Response } = globalThis;
const real = { setTimeout, setImmediate, fetch, Request, Response };

/**
 * Fails a file that leaves other globals to the next ones of its process. A spy on a faked timer does that: each later
 * `restoreAllMocks` restores the faked one. So does `@hono/node-server`, which replaces `Request` and `Response`.
 */
afterAll(() => {
  for (const [name, one] of Object.entries(real)) {
    if (globalThis[name as keyof typeof real] !== one) throw new Error(`${name} is not the one of Node`);
  }
});
