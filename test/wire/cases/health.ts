import { NOW } from '../../support/test-app.ts';
import type { WireCase } from './case.ts';

export const ping: readonly WireCase[] = [
  { title: 'answers a health check', status: 200, body: { message: 'pong' }, everywhere: true },
];

export const getHealth: readonly WireCase[] = [
  {
    title: 'reports the uptime of the service',
    ask: async ({ clock }) => {
      await clock.advance(90_500);
      return {};
    },
    status: 200,
    body: { status: 'ok', timestamp: new Date(NOW + 90_500).toISOString(), uptimeSeconds: 90 },
  },
];
