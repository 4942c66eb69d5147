import { createApi, createServices, createUser, issueApiKey } from '@questline/core';
import {
  createMemoryLedger,
  createMemoryLimiter,
  createMemoryStore,
  createSystemClock,
} from '@questline/core/memory';
import { toExpress } from '@questline/express';
import express from 'express';
import { answerOnce } from './first-request.mjs';

const clock = createSystemClock();
const services = createServices(
  {
    store: createMemoryStore(),
    ledger: createMemoryLedger({ clock }),
    limiter: createMemoryLimiter(),
    models: [],
    clock,
  },
  { jwtSecret: 'b'.repeat(64) },
);
const user = await createUser(services, { email: 'bench@example.com', username: 'bench' });
const { key } = await issueApiKey(services, { userId: user.id, name: 'bench', scopes: ['me:read'] });
const app = express();
app.use(toExpress(createApi(services)));
answerOnce(app, '/api/v1/me', { Authorization: `Bearer ${key}` });
