import { type Api, createApi, createDemoProvider, createServices, createUser, USERS } from '@questline/core';
import { createMemoryPorts } from '@questline/core/memory';
import type { Person } from './notes.ts';

export interface Workspace {
  /** To be mounted. */
  readonly api: Api;
  /** An access token with which somebody the application has signed in may use the api. */
  tokenFor(person: Person): Promise<string>;
}

const WELCOME_CREDITS = 100;
const MICRO_CREDITS = 1_000_000;

/** Questline on ports in memory and models that need no key. @param jwtSecret signs the tokens: 64 hexadecimal characters. */
export function createWorkspace(jwtSecret: string): Workspace {
  const services = createServices(
    { ...createMemoryPorts(), models: [createDemoProvider()] },
    { jwtSecret, admin: { enforceCredits: true } },
  );
  return {
    api: createApi(services),
    async tokenFor({ id, email, name }) {
      // All three do nothing the second time, so nobody has to remember whether there was a first.
      await createUser(services, { id, email, username: name });
      const welcome = { account: `user:${id}`, amount: WELCOME_CREDITS * MICRO_CREDITS, key: 'welcome' };
      await services.ledger.grant({ ...welcome, reason: 'Welcome' });
      const user = await services.store.collection(USERS).get(id);
      return services.tokens.sign({ id, tokenVersion: user?.tokenVersion ?? 0, typ: 'access' });
    },
  };
}
