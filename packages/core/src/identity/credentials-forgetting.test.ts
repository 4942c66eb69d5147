import { expect, it } from 'vitest';
import { BAD_KEY, BAD_TOKEN, FAILURE, openAuthenticator, TTL_MS } from '../../test/credentials.ts';
import { createAuthenticator } from './credentials.ts';

it('forgets a key, and no other, here and in other processes', async () => {
  const { clock, services, authenticator, keys, issue, tryKey } = await openAuthenticator();
  const there = createAuthenticator(services);
  const [one, other] = [await issue(), await issue()];
  const tryThere = (key: string) => there.authenticate({ 'x-api-key': key }, 'key-or-token');
  for (const { key } of [one, other]) await Promise.all([tryKey(key), tryThere(key)]);
  await keys.update(one.record.id, { status: 'disabled' });
  authenticator.forgetKey('0'.repeat(24));
  expect(tryKey(one.key)).toMatchObject({ kind: 'key' });
  authenticator.forgetKey(one.record.id);
  await expect(tryKey(one.key)).rejects.toMatchObject(BAD_KEY);
  await clock.advance(0);
  await expect(tryThere(one.key)).rejects.toMatchObject(BAD_KEY);
  for (const answer of [tryKey(other.key), tryThere(other.key)])
    expect(answer).toMatchObject({ kind: 'key' });
});

it('forgets the new secret of a key that another process has rotated', async () => {
  const { clock, authenticator, keys, issue, tryKey } = await openAuthenticator();
  const [{ key, record }, next] = [await issue(), await issue()];
  await tryKey(key);
  await keys.take(next.record.id);
  await keys.update(record.id, { hash: next.record.hash });
  await tryKey(next.key);
  await clock.advance(TTL_MS);
  await tryKey(next.key);
  await expect(tryKey(key)).rejects.toMatchObject(BAD_KEY);
  await keys.update(record.id, { status: 'disabled' });
  authenticator.forgetKey(record.id);
  await expect(tryKey(next.key)).rejects.toMatchObject(BAD_KEY);
});

it('forgets the keys and tokens of a user, and of no other, here and in other processes', async () => {
  const { clock, services, authenticator, users, addUser, user, issue, signFor } = await openAuthenticator();
  const there = createAuthenticator(services);
  const eve = await addUser('eve@example.com');
  const [mine, also, hers] = [await issue(), await issue(), await issue({ userId: eve.id })];
  const token = await signFor();
  const both = [authenticator, there];
  for (const one of both) {
    for (const text of [mine.key, also.key, hers.key, token]) await one.identify(text);
  }
  await users.update(user.id, { disabled: true });
  await users.update(eve.id, { disabled: true });
  authenticator.forgetUser(user.id);
  await clock.advance(0);
  for (const one of both) {
    for (const { key } of [mine, also]) await expect(one.identify(key)).rejects.toMatchObject(BAD_KEY);
    await expect(one.identify(token)).rejects.toMatchObject(BAD_TOKEN);
    expect(await one.identify(hers.key)).toMatchObject({ kind: 'key' });
  }
});

it('forgets the keys of a user and the models of the organizations that pay for them, and no other', async () => {
  const { services, authenticator, keys, addUser, user, issue } = await openAuthenticator();
  const eve = await addUser('eve@example.com');
  const [ended, mine, hers] = [
    await issue({ organizationId: 'o' }),
    await issue({ organizationId: 'o' }),
    await issue({ userId: eve.id, organizationId: 'p' }),
  ];
  for (const { key } of [ended, mine, hers]) await authenticator.identify(key);
  await keys.update(ended.record.id, { status: 'disabled' });
  await keys.update(hers.record.id, { status: 'disabled' });
  const ofOrganization = async () => [{ source: 'organization', models: ['new'] } as const];
  Object.assign(services.modelLists, { ofOrganization });
  authenticator.forgetUser(user.id);
  await expect(authenticator.identify(ended.key)).rejects.toMatchObject(BAD_KEY);
  expect(await authenticator.identify(mine.key)).toMatchObject({ modelLists: [{ models: ['new'] }] });
  expect(await authenticator.identify(hers.key)).toMatchObject({ modelLists: [{ models: ['p'] }] });
});

it('does not believe what a read returns after a key is forgotten', async () => {
  const { clock, reads, authenticator, keys, issue, tryKey } = await openAuthenticator();
  const { key, record } = await issue();
  reads.hold();
  const first = tryKey(key);
  await clock.advance(0);
  await keys.update(record.id, { status: 'disabled' });
  authenticator.forgetKey(record.id);
  reads.release();
  await first;
  await expect(tryKey(key)).rejects.toMatchObject(BAD_KEY);
});

it('does not believe what a read returns after a user is forgotten', async () => {
  const { clock, reads, authenticator, users, user, signFor, ask } = await openAuthenticator();
  const headers = { authorization: `Bearer ${await signFor()}` };
  // Verifies the token, so that the next request begins with the read.
  await ask(headers);
  await clock.advance(TTL_MS);
  reads.hold();
  const second = ask(headers);
  await clock.advance(0);
  await users.update(user.id, { disabled: true });
  authenticator.forgetUser(user.id);
  reads.release();
  await second;
  await expect(ask(headers)).rejects.toMatchObject(BAD_TOKEN);
});

it('forgets at once, and reports messages that do not reach other processes', async () => {
  const { clock, services, keys, users, user, issue, errors } = await openAuthenticator();
  const authenticator = createAuthenticator({
    ...services,
    publisher: { publish: () => Promise.reject(FAILURE), subscribe: async () => async () => undefined },
  });
  const [one, other] = [await issue(), await issue()];
  for (const { key } of [one, other]) await authenticator.identify(key);
  await keys.update(one.record.id, { status: 'disabled' });
  authenticator.forgetKey(one.record.id);
  await expect(authenticator.identify(one.key)).rejects.toMatchObject(BAD_KEY);
  await users.update(user.id, { disabled: true });
  authenticator.forgetUser(user.id);
  await expect(authenticator.identify(other.key)).rejects.toMatchObject(BAD_KEY);
  await clock.advance(0);
  expect(errors).toEqual([FAILURE, FAILURE]);
});
