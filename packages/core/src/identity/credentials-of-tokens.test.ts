import { expect, it } from 'vitest';
import { BAD_TOKEN, openAuthenticator, TTL_MS } from '../../test/credentials.ts';
import { createAuthenticator } from './credentials.ts';

it('knows the caller of a token', async () => {
  const { clock, users, user, signFor, authenticator } = await openAuthenticator();
  await users.update(user.id, { isAdmin: true, tier: 'pro' });
  expect(await authenticator.identify(await signFor())).toEqual({
    ...{ kind: 'token', userId: user.id, isAdmin: true },
    session: { renewableUntil: clock.now() + 600_000 },
    modelLists: [{ source: 'plan', models: ['p'] }],
  });
  const session = { family: 'f', renewableUntil: clock.now() + 900_000 };
  expect(await authenticator.identify(await signFor(session))).toMatchObject({ session });
});

it('rejects other tokens, and those of deleted and banned users', async () => {
  const { users, user, addUser, signFor, ask } = await openAuthenticator();
  const eve = await addUser('eve@example.com');
  await users.update(eve.id, { disabled: true });
  const endedFamilies = ['e', 'f'].map((id) => ({ id, until: 0 }));
  await users.update(user.id, { tokenVersion: 1, endedFamilies });
  const headersOf = async (claims: object) => ({ authorization: `Bearer ${await signFor(claims)}` });
  for (const claims of [
    { tokenVersion: 1, typ: 'refresh' },
    { tokenVersion: 0 },
    { tokenVersion: 2 },
    { id: eve.id },
    { id: '0'.repeat(24) },
    { tokenVersion: 1, family: 'f' },
  ]) {
    await expect(ask(await headersOf(claims))).rejects.toMatchObject(BAD_TOKEN);
  }
  await expect(ask({ authorization: 'Bearer x' })).rejects.toMatchObject(BAD_TOKEN);
  expect(await ask(await headersOf({ tokenVersion: 1, family: 'g' }))).toMatchObject({ kind: 'token' });
  expect(await ask(await headersOf({ tokenVersion: 1 }))).toMatchObject({ kind: 'token' });
});

it('reads a user of tokens once in 1.5 seconds', async () => {
  const { clock, reads, signFor, authenticator } = await openAuthenticator();
  const token = await signFor();
  await authenticator.identify(token);
  await clock.advance(TTL_MS - 1);
  await authenticator.identify(token);
  expect(reads.counts.reads).toBe(1);
  await clock.advance(1);
  await authenticator.identify(token);
  expect(reads.counts.reads).toBe(2);
});

it('accepts a user who is created after a refusal', async () => {
  const { users, user, signFor, authenticator } = await openAuthenticator();
  const token = await signFor();
  await users.take(user.id);
  await expect(authenticator.identify(token)).rejects.toMatchObject(BAD_TOKEN);
  await users.insert(user);
  expect(await authenticator.identify(token)).toMatchObject({ userId: user.id });
});

it('asks no host for callers without one', async () => {
  const { authenticator, issue } = await openAuthenticator();
  expect(authenticator).not.toHaveProperty('identifyHost');
  const { key } = await issue();
  expect(await authenticator.identify(key)).toMatchObject({ kind: 'key' });
  const request = {
    method: 'GET',
    path: '/',
    headers: {},
    remoteAddress: undefined,
    protocol: 'http',
  } as const;
  expect(() => authenticator.authenticate({}, 'token', request)).toThrow('Provide a valid access token');
});

it.each(['key', 'token'])('subscribes to revocations with the first %s, until it is closed', async (kind) => {
  const { services, issue, signFor } = await openAuthenticator();
  let [begun, ended] = [0, 0];
  const authenticator = createAuthenticator({
    ...services,
    publisher: {
      publish: async () => undefined,
      async subscribe() {
        begun += 1;
        return async () => {
          ended += 1;
        };
      },
    },
  });
  expect(begun).toBe(0);
  await authenticator.identify(kind === 'key' ? (await issue()).key : await signFor());
  expect([begun, ended]).toEqual([1, 0]);
  await authenticator.close();
  expect([begun, ended]).toEqual([1, 1]);
});
