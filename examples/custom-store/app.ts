import type { RequestListener } from 'node:http';
import {
  createApi,
  createDemoProvider,
  createServices,
  createUser,
  issueApiKey,
  toNodeListener,
} from '@questline/core';
import { createMemoryLedger, createMemoryLimiter, createSystemClock } from '@questline/core/memory';
import { createDemoMedia } from '@questline/demo-media';
import { openJournalStore } from './store.ts';

/** The complete api on the journal; the other ports are the reference implementations in memory. */
export async function build(
  path: string,
  jwtSecret: string,
): Promise<{ listener: RequestListener; issueKey(): Promise<string>; close(): Promise<void> }> {
  const clock = createSystemClock();
  const store = await openJournalStore(path);
  const services = createServices(
    {
      store,
      ledger: createMemoryLedger({ clock }),
      limiter: createMemoryLimiter(),
      models: [createDemoProvider({ media: createDemoMedia() })],
    },
    { jwtSecret, admin: { enforceCredits: false } },
  );
  const api = createApi(services);
  return {
    listener: toNodeListener(api),
    async issueKey() {
      const email = `reader-${services.ids.next()}@example.com`;
      const user = await createUser(services, { email, username: 'reader' });
      if (user === undefined) throw new Error('the email address already has an account');
      return (await issueApiKey(services, { userId: user.id, name: 'first', scopes: ['ai:chat'] })).key;
    },
    async close() {
      await api.close();
      await store.close();
    },
  };
}
