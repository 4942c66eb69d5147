import type { Server } from 'node:http';
import type { Services } from '@questline/core';
import type { Realtime } from '@questline/realtime';

/** Realtime updates, imported only when they are enabled. */
export async function attachRealtime(services: Services, server: Server): Promise<Realtime> {
  const { createRealtime } = await import('@questline/realtime');
  const realtime = createRealtime(services);
  realtime.attach(server);
  return realtime;
}
