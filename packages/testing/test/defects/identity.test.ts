import type { Identity, IdentityRequest } from '@questline/core/ports';
import {
  createFakeClock,
  fakeTime,
  type IdentitySubject,
  type IdentityUser,
  identityCases,
  identitySuite,
} from '@questline/testing';
import { type Defect, defectTests, gap } from './red.ts';

type Sessions = Map<unknown, IdentityUser>;

/** Sessions in memory by cookie, changed by a defect. */
async function createSubject(
  spoil: (identity: Identity, sessions: Sessions) => Identity,
): Promise<IdentitySubject> {
  const sessions: Sessions = new Map();
  let isAway = false;
  let serial = 0;
  const request = (cookie?: string): IdentityRequest => ({
    method: 'GET',
    path: '/',
    headers: cookie === undefined ? {} : { cookie },
    remoteAddress: '192.0.2.1',
    protocol: 'https',
  });
  const sound: Identity = {
    credential: ({ headers }) => headers.cookie?.toString(),
    async identify({ headers }, options) {
      options?.signal?.throwIfAborted();
      await gap();
      if (isAway) throw new Error('away');
      const user = sessions.get(headers.cookie);
      return user && { externalId: user };
    },
  };
  return {
    identity: spoil(sound, sessions),
    async signIn(user) {
      serial += 1;
      sessions.set(`sid=${serial}`, user);
      return request(`sid=${serial}`);
    },
    async signOut({ headers }) {
      sessions.delete(headers.cookie);
    },
    anonymous: request(),
    refused: [request('sid=unknown'), request('sid='), request('other=1')],
    async breakDown() {
      isAway = true;
    },
    time: fakeTime(createFakeClock()),
  };
}

identitySuite({ name: 'sessions in memory', create: () => createSubject((identity) => identity) });

const defect = (
  name: string,
  red: readonly string[],
  spoil: (identity: Identity, sessions: Sessions) => Identity,
): Defect<IdentitySubject> => ({ name, red, create: () => createSubject(spoil) });

const NAMED = 'names a different credential for every request with another answer';

defectTests('identity', identityCases, [
  defect('answers an object as id', ['identifies a user with an id of 1 to 200 characters'], (sound) => ({
    ...sound,
    identify: async (request) => {
      const found = await sound.identify(request);
      return found && ({ externalId: { id: found.externalId } } as never);
    },
  })),
  defect(
    'answers the session as id',
    ['gives a user one id in every session, and two users two ids'],
    (sound) => ({
      ...sound,
      identify: async (request, options) =>
        (await sound.identify(request, options)) && { externalId: `${request.headers.cookie}` },
    }),
  ),
  defect('remembers the last user', ['does not identify a request without a credential'], (sound) => {
    let last: Awaited<ReturnType<Identity['identify']>>;
    return {
      ...sound,
      async identify(request, options) {
        last = (await sound.identify(request, options)) ?? last;
        return last;
      },
    };
  }),
  defect(
    'rejects a refused credential',
    ['does not identify a refused credential, and does not reject'],
    (sound) => ({
      ...sound,
      async identify(request, options) {
        const found = await sound.identify(request, options);
        if (found === undefined && request.headers.cookie !== undefined) throw new Error('invalid');
        return found;
      },
    }),
  ),
  defect('removes the cookie', ['leaves the request unchanged'], (sound) => ({
    ...sound,
    async identify(request, options) {
      const found = await sound.identify(request, options);
      delete (request.headers as Record<string, unknown>).cookie;
      return found;
    },
  })),
  defect('believes an ended session', ['does not identify a user who has signed out'], (sound) => {
    const seen = new Map<unknown, Awaited<ReturnType<Identity['identify']>>>();
    return {
      ...sound,
      async identify(request, options) {
        const { cookie } = request.headers;
        const found = seen.get(cookie) ?? (await sound.identify(request, options));
        seen.set(cookie, found);
        return found;
      },
    };
  }),
  defect(
    'answers nothing while its source is away',
    ['rejects while its source is unavailable'],
    (sound) => ({
      ...sound,
      identify: (request, options) => sound.identify(request, options).catch(() => undefined),
    }),
  ),
  defect('caches by the address', [NAMED], (sound) => ({
    ...sound,
    credential: ({ remoteAddress }) => remoteAddress,
  })),
  defect('caches by a constant', [NAMED], (sound) => ({ ...sound, credential: () => 'user' })),
  defect('mixes parallel requests up', ['identifies 20 parallel requests of two users'], (sound) => {
    let current: IdentityRequest;
    return {
      ...sound,
      async identify(request, options) {
        current = request;
        await gap();
        return sound.identify(current, options);
      },
    };
  }),
  defect(
    'breaks for ever when aborted',
    ['identifies the right user or rejects when aborted before the call'],
    (sound) => {
      let isBroken = false;
      return {
        ...sound,
        async identify(request, options) {
          if (options?.signal?.aborted === true) isBroken = true;
          return isBroken ? undefined : sound.identify(request, options);
        },
      };
    },
  ),
]);
