import { type Api, createApi, createDemoProvider, createServices, createUser, USERS } from '@questline/core';
import { createMemoryPorts } from '@questline/core/memory';
import { createDemoMedia } from '@questline/demo-media';
import type { Person } from './notes.ts';

export interface Workspace {
  /** The api to mount. */
  readonly api: Api;
  /** Issues an access token for a user whom the application has signed in. */
  tokenFor(person: Person): Promise<string>;
}

const WELCOME_CREDITS = 100;
const MICRO_CREDITS = 1_000_000;

/**
 * Questline on memory ports, with models that need no key. @param jwtSecret signs the tokens: 64 hexadecimal
 * characters.
 */
export function createWorkspace(jwtSecret: string): Workspace {
  const services = createServices(
    { ...createMemoryPorts(), models: [createDemoProvider({ media: createDemoMedia() })] },
    { jwtSecret, admin: { enforceCredits: true } },
  );
  return {
    api: createApi(services),
    async tokenFor({ id, email, name }) {
      // All three are idempotent: it is safe to call this at every sign-in.
      await createUser(services, { id, email, username: name });
      const welcome = { account: `user:${id}`, amount: WELCOME_CREDITS * MICRO_CREDITS, key: 'welcome' };
      await services.ledger.grant({ ...welcome, reason: 'Welcome' });
      const user = await services.store.collection(USERS).get(id);
      return services.tokens.sign({ id, tokenVersion: user?.tokenVersion ?? 0, typ: 'access' });
    },
  };
}
