import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Measurements that a process reports about itself. */
export interface Reading {
  /** User and system time since the start of the process, in microseconds. */
  readonly cpu: number;
  /** Bytes. */
  readonly rss: number;
  /** Since the previous reading of memory, in ms. */
  readonly delayP99: number;
}

/** Listens on a free port, reports it to the parent, and answers its requests for readings. */
export function serve(server: Server): void {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
  process.on('message', (question) => {
    // Both cost time (the delay 10 ms of CPU a second), so they run only for memory readings.
    if (question === 'memory') {
      globalThis.gc?.();
      delay.enable();
    }
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
