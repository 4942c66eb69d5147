import { type Client, must } from './client.ts';
import type { ServerProcess } from './process.ts';

/** A user of the server. */
export interface Person {
  readonly id: string;
  readonly email: string;
  /** An access token. */
  readonly token: string;
  readonly refreshToken: string;
}

/** A user for the whole run. */
export interface Regular extends Person {
  /** An API key with all scopes and high limits. */
  readonly key: string;
  readonly sessionId: string;
}

export interface Workload {
  readonly client: Client;
  readonly regulars: readonly Regular[];
  /** All registered users. */
  readonly ids: Set<string>;
  /** The permanent lakes, by user. */
  readonly lakes: Map<string, Promise<string>>;
  signIn(email: string): Promise<Person>;
}

interface SignedIn {
  readonly _id?: string;
  readonly user?: { readonly _id: string };
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** Given to each new account. */
export const FREE_CREDITS = 1_000_000;
const REGULARS = 10;

/** Configures the server and registers the first users. */
export async function openWorkload(server: ServerProcess, client: Client): Promise<Workload> {
  client.secrets.add(server.demo.key);
  let addresses = 0;
  const ids = new Set<string>();

  const signIn = async (email: string): Promise<Person> => {
    // Codes are limited per client address, so each user has a different one.
    addresses += 1;
    const address = `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`;
    const ask = <T>(step: string, body: object) =>
      client.ask<T>('POST', `/api/otc/${step}`, { body, headers: { 'x-forwarded-for': address } });
    const { pendingToken } = must(await ask<{ pendingToken: string }>('send', { email }));
    const code = await server.codeFor(email);
    const [username] = email.split('@');
    // A new user is one level deeper in the response.
    const signedIn = must(await ask<SignedIn>('verify', { email, code, pendingToken, username }));
    const { accessToken, refreshToken } = signedIn;
    for (const secret of [pendingToken, code, accessToken, refreshToken]) client.secrets.add(secret);
    const id = signedIn.user?._id ?? signedIn._id ?? '';
    ids.add(id);
    return { id, email, token: accessToken, refreshToken };
  };

  const admin = await signIn(server.demo.email);
  for (const [key, value] of [
    ['allowOpenRegistration', true],
    ['defaultFreeCredits', FREE_CREDITS],
  ] as const) {
    must(await client.ask('PUT', '/api/settings/update', { credential: admin.token, body: { key, value } }));
  }
  const regulars: Regular[] = [];
  for (let number = 0; number < REGULARS; number += 1) {
    const person = await signIn(`regular-${number}@example.com`);
    const rateLimit = { requestsPerMinute: 10_000, requestsPerDay: 1_000_000 };
    const { key } = must(
      await client.ask<{ key: string }>('POST', '/api/user-api-keys', {
        credential: person.token,
        body: { name: 'soak', preset: 'full', rateLimit },
      }),
    );
    client.secrets.add(key);
    const session = must(
      await client.ask<{ id: string }>('POST', '/api/v1/sessions', {
        credential: key,
        body: { name: 'Work' },
      }),
    );
    regulars.push({ ...person, key, sessionId: session.id });
  }
  return { client, regulars, ids, lakes: new Map(), signIn };
}
