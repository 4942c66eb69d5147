import { NOW } from '../../support/world.ts';
import type { WireCase } from './case.ts';

export const ping: readonly WireCase[] = [
  { title: 'answers', status: 200, body: { message: 'pong' }, everywhere: true },
];

export const getHealth: readonly WireCase[] = [
  {
    title: 'says since when the service runs',
    ask: async ({ clock }) => {
      await clock.advance(90_500);
      return {};
    },
    status: 200,
    body: { status: 'ok', timestamp: new Date(NOW + 90_500).toISOString(), uptimeSeconds: 90 },
  },
];
