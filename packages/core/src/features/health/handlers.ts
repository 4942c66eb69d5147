import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { getHealth, ping } from './contract.ts';

/** `GET /api/ping` */
export function createPingHandler(services: PipelineServices): Route {
  return defineRoute(ping, services, async () => ({ message: 'pong' as const }));
}

/** `GET /api/health` */
export function createHealthHandler(services: PipelineServices): Route {
  const startedAt = services.clock.now();
  return defineRoute(getHealth, services, async () => {
    const now = services.clock.now();
    return {
      status: 'ok' as const,
      timestamp: new Date(now).toISOString(),
      uptimeSeconds: Math.floor((now - startedAt) / 1000),
    };
  });
}
