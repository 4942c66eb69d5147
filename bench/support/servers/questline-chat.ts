import { createServer } from 'node:http';
import {
  createApi,
  createDemoProvider,
  createServices,
  createUser,
  issueApiKey,
  toNodeListener,
} from '@questline/core';
import { API_KEYS, hashSecret } from '@questline/core/internal';
import {
  createIds,
  createMemoryLedger,
  createMemoryLimiter,
  createMemoryQueue,
  createMemoryStore,
  createSystemClock,
} from '@questline/core/memory';
import { serve } from '../child.ts';

/**
 * The complete chat on memory ports, with a model that answers at once. `ENGINE=off` leaves jobs to another
 * process.
 */
const clock = createSystemClock();
const ids = createIds();
const store = createMemoryStore();
const ledger = createMemoryLedger({ clock });
const services = createServices(
  {
    store,
    ledger,
    limiter: createMemoryLimiter(),
    queue: createMemoryQueue({ clock, ids }),
    models: [createDemoProvider()],
    clock,
    ids,
  },
  {
    jwtSecret: 'b'.repeat(64),
    admin: { DefaultAPIModel: 'demo-echo' },
    // Without an engine, all accepted work waits.
    ...(process.env.ENGINE === 'off' && { admission: { maxWaiting: null, maxWaitingPerOwner: null } }),
  },
);
const user = await createUser(services, { email: 'bench@example.com', username: 'bench' });
if (user === undefined) throw new Error('no user');
await ledger.grant({ account: `user:${user.id}`, amount: 9e15, key: 'bench', reason: 'bench' });
const { record } = await issueApiKey(services, {
  userId: user.id,
  name: 'bench',
  scopes: ['ai:chat'],
  requestsPerMinute: 1e9,
  requestsPerDay: 1e9,
});
await store.collection(API_KEYS).update(record.id, { hash: hashSecret(`svc_live_${'k'.repeat(43)}`) });
const hasWorker = process.env.ENGINE !== 'off';
const api = createApi(services, { worker: hasWorker });
if (hasWorker) await api.start();

serve(createServer(toNodeListener(api)));
