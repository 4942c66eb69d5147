import { type Api, createApi, createServices, createUser, issueApiKey, type Services } from '@questline/core';
import { API_KEYS, hashSecret } from '@questline/core/internal';
import {
  createIds,
  createMemoryLedger,
  createMemoryLimiter,
  createMemoryStore,
  createSystemClock,
} from '@questline/core/memory';
import { createOpenAIProvider } from '@questline/providers/openai';

/** The complete hot path on memory ports: key, scope, two windows, hold, provider, settle. */
export async function createBenchApi(): Promise<Api> {
  return createApi(await createBenchServices());
}

export async function createBenchServices(): Promise<Services> {
  const clock = createSystemClock();
  const ids = createIds();
  const ledger = createMemoryLedger({ clock });
  const store = createMemoryStore();
  const services = createServices(
    {
      store,
      ledger,
      limiter: createMemoryLimiter(),
      clock,
      ids,
      models: [
        createOpenAIProvider({
          protocol: 'chat',
          apiKey: 'upstream',
          baseUrl: process.env.UPSTREAM ?? '',
          connections: 10_000,
          models: [
            {
              id: 'gpt-bench',
              name: 'Bench',
              type: 'text',
              provider: 'openai',
              contextWindow: 128_000,
              maxOutputTokens: 16_384,
              supportsStreaming: true,
              prices: { input: 1, output: 2 },
            },
          ],
        }),
      ],
    },
    { jwtSecret: 'b'.repeat(64) },
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
  return services;
}
