import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** What a measured process tells of itself. */
export interface Reading {
  /** Microseconds of user and system time since the process began. */
  readonly cpu: number;
  /** Bytes. */
  readonly rss: number;
  /** Milliseconds, since the reading before. */
  readonly delayP99: number;
}

/** Listens on a free port, tells the parent, and answers its questions. */
export function serve(server: Server): void {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
  process.on('message', (question) => {
    // Collecting garbage costs time of its own, so it is done only where memory is asked for.
    if (question === 'memory') globalThis.gc?.();
    const { user, system } = process.cpuUsage();
    const reading: Reading = {
      cpu: user + system,
      rss: process.memoryUsage.rss(),
      delayP99: delay.percentile(99) / 1e6,
    };
    delay.reset();
    process.send?.(reading);
  });
  process.once('disconnect', () => process.exit());
}
