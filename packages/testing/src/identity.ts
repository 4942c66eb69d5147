import type { HostIdentity, Identity, IdentityRequest } from '@questline/core/ports';
import { expect } from 'vitest';
import { aborting, inParallel } from './parallel.ts';
import { type Case, registerSuite, type Subject, type SuiteOptions } from './suite.ts';

/** Two users of the host. */
export type IdentityUser = 'alice' | 'bob';

export interface IdentitySubject extends Subject {
  readonly identity: Identity;
  /** Signs a user in and returns a request with the credential: a new session for each call. */
  signIn(user: IdentityUser): Promise<IdentityRequest>;
  /** Ends the session of a request. Absent: a credential is valid until it expires. */
  readonly signOut?: (request: IdentityRequest) => Promise<void>;
  /** A request without any credential. */
  readonly anonymous: IdentityRequest;
  /** Requests with credentials that are malformed, forged, expired or from an untrusted sender. */
  readonly refused: readonly IdentityRequest[];
  /** Makes the source of identities unavailable. Absent: it cannot be unavailable. */
  readonly breakDown?: () => Promise<void>;
}

export type IdentityCase = Case<IdentitySubject>;

const MAX_ID = 200;

async function getId(identity: Identity, request: IdentityRequest): Promise<string | undefined> {
  const answer = await identity.identify(request);
  return answer?.externalId;
}

const behaviour: readonly IdentityCase[] = [
  {
    name: 'identifies a user with an id of 1 to 200 characters',
    section: 'behaviour',
    async run({ identity, signIn }) {
      const answer = (await identity.identify(await signIn('alice'))) as HostIdentity;
      expect(typeof answer.externalId).toBe('string');
      expect([...answer.externalId].length).toBeGreaterThanOrEqual(1);
      expect([...answer.externalId].length).toBeLessThanOrEqual(MAX_ID);
      for (const text of [answer.email, answer.name, answer.organizationId]) {
        expect(['string', 'undefined']).toContain(typeof (text ?? undefined));
      }
      for (const list of [answer.roles, answer.scopes]) {
        expect((list ?? []).every((entry) => typeof entry === 'string')).toBe(true);
      }
    },
  },
  {
    name: 'gives a user one id in every session, and two users two ids',
    section: 'behaviour',
    async run({ identity, signIn }) {
      const ids = [];
      for (const user of ['alice', 'bob', 'alice', 'bob'] as const)
        ids.push(await getId(identity, await signIn(user)));
      const [alice, bob, ...again] = ids;
      expect(alice).not.toBe(bob);
      expect(again).toEqual([alice, bob]);
    },
  },
  {
    name: 'does not identify a request without a credential',
    section: 'behaviour',
    async run({ identity, signIn, anonymous }) {
      expect((await identity.identify(anonymous)) ?? undefined).toBeUndefined();
      // Nor after another request had one.
      await identity.identify(await signIn('alice'));
      expect((await identity.identify(anonymous)) ?? undefined).toBeUndefined();
    },
  },
  {
    name: 'does not identify a refused credential, and does not reject',
    section: 'behaviour',
    async run({ identity, refused }) {
      expect(refused.length).toBeGreaterThan(0);
      for (const request of refused) {
        expect((await identity.identify(request)) ?? undefined).toBeUndefined();
      }
    },
  },
  {
    name: 'leaves the request unchanged',
    section: 'behaviour',
    async run({ identity, signIn }) {
      const request = await signIn('alice');
      const before = JSON.stringify(request);
      Object.freeze(request.headers);
      expect(await getId(identity, Object.freeze(request))).toBeDefined();
      expect(JSON.stringify(request)).toBe(before);
    },
  },
  {
    name: 'does not identify a user who has signed out',
    section: 'behaviour',
    excuse: ({ signOut }) => (signOut === undefined ? 'a credential is valid until it expires' : undefined),
    async run({ identity, signIn, signOut }) {
      const [ended, other] = [await signIn('alice'), await signIn('alice')];
      expect(await getId(identity, ended)).toBeDefined();
      await signOut?.(ended);
      expect((await identity.identify(ended)) ?? undefined).toBeUndefined();
      expect(await getId(identity, other)).toBeDefined();
    },
  },
  {
    name: 'rejects while its source is unavailable',
    section: 'behaviour',
    excuse: ({ breakDown }) => (breakDown === undefined ? 'it has no source' : undefined),
    async run({ identity, signIn, breakDown }) {
      const request = await signIn('alice');
      await breakDown?.();
      await expect(identity.identify(request)).rejects.toThrow();
    },
  },
  {
    name: 'names a different credential for every request with another answer',
    section: 'behaviour',
    excuse: ({ identity }) => (identity.credential === undefined ? 'it names no credential' : undefined),
    async run({ identity, signIn, anonymous, refused }) {
      const signedIn = [await signIn('alice'), await signIn('bob')];
      const texts = signedIn.map((request) => identity.credential?.(request));
      // Undefined is not cached, and so never shared.
      const [alice, bob] = texts;
      if (alice !== undefined) expect(alice).not.toBe(bob);
      const known = texts.filter((text) => text !== undefined);
      for (const request of [anonymous, ...refused])
        expect(known).not.toContain(identity.credential?.(request));
      // An address and a path alone identify no user.
      for (const { remoteAddress, path } of signedIn) {
        expect(known).not.toContain(identity.credential?.({ ...anonymous, remoteAddress, path }));
      }
    },
  },
];

const races: readonly IdentityCase[] = [
  {
    name: 'identifies 20 parallel requests of two users',
    section: 'race',
    async run({ identity, signIn }) {
      const requests = [await signIn('alice'), await signIn('bob')];
      const ids: (string | undefined)[] = [];
      for (const request of requests) ids.push(await getId(identity, request));
      const answers = await inParallel(20, [identity], (each, at) =>
        getId(each, requests[at % 2] as IdentityRequest),
      );
      expect(answers).toEqual(Array.from({ length: 20 }, (_, at) => ids[at % 2]));
    },
  },
];

const aborts: readonly IdentityCase[] = (['before', 'during'] as const).map((when) => ({
  name: `identifies the right user or rejects when aborted ${when} the call`,
  section: 'abort',
  async run({ identity, signIn }) {
    const request = await signIn('alice');
    const id = await getId(identity, request);
    const attempt = await aborting(when, (signal) => identity.identify(request, { signal }));
    if (attempt.isDone) expect(attempt.value?.externalId).toBe(id);
    expect(await getId(identity, request)).toBe(id);
  },
}));

/** What every identity must do. */
export const identityCases: readonly IdentityCase[] = [...behaviour, ...races, ...aborts];

/** Registers the conformance suite of `Identity` as tests. */
export function identitySuite(options: SuiteOptions<IdentitySubject>): void {
  registerSuite('identity', identityCases, options);
}
