import type { Server } from 'node:http';
import type { Services } from '@questline/core';
import type { Realtime } from '@questline/realtime';

/** Live updates beside the api, loaded only when they are wanted. */
export async function attachRealtime(services: Services, server: Server): Promise<Realtime> {
  const { createRealtime } = await import('@questline/realtime');
  const realtime = createRealtime(services);
  realtime.attach(server);
  return realtime;
}
