import { AUDIT_LOG, GRANT_INTENTS } from '@questline/core/internal';
import { forgetUser } from '@questline/core/personal-data';
import { describe, expect, it } from 'vitest';
import { delayed } from '../../packages/core/test/delayed.ts';
import { callAs, shareWith } from '../support/sharing.ts';
import { adminToken } from '../support/sign-in.ts';
import { createTestApp } from '../support/test-app.ts';

async function setUp() {
  const app = await createTestApp();
  const credential = await adminToken(app);
  const ada = await app.addUser('countess@example.com');
  const { body } = await callAs(app, ada, 'POST', '/api/organizations', { name: 'Engines' });
  const path = `/api/organizations/${body._id}` as const;
  return { app, credential, ada, path, rename: (name: string) => callAs(app, ada, 'PATCH', path, { name }) };
}

const toIds = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).id);

describe('export of the audit log', () => {
  it('has more entries than one read of the store returns, each once, and none from after its request', async () => {
    const { app, credential, rename } = await setUp();
    for (let count = 0; count < 600; count += 1) await rename(`Engines ${count}`);
    const path = '/api/audit/export?action=organization.updated';
    const answer = await app.ask('GET', path, { credential });
    await app.clock.advance(1);
    await rename('Too late');
    const ids = toIds(await answer.text());
    expect([ids.length, new Set(ids).size]).toEqual([600, 600]);
    expect(toIds(await (await app.ask('GET', path, { credential })).text())).toHaveLength(601);
  });

  it('is ordered by time, also when the clocks of two servers differ', async () => {
    const { app, credential, rename } = await setUp();
    await rename('Looms');
    const log = app.services.store.collection(AUDIT_LOG);
    const [last] = await log.find({ action: 'organization.updated' });
    if (last === undefined) throw new Error('expected an entry');
    await log.insert({ ...last, id: 'e'.repeat(24), createdAt: last.createdAt - 1000 });
    const path = '/api/audit/export?action=organization.updated';
    const ids = toIds(await (await app.ask('GET', path, { credential })).text());
    expect(ids).toEqual(['e'.repeat(24), last.id]);
  });

  it('names the request and its address', async () => {
    const { app, credential, ada, path } = await setUp();
    await app.ask('PATCH', path, {
      credential: await app.token(ada),
      body: { name: 'Looms' },
      headers: { 'X-Request-ID': 'r-1' },
      from: '192.0.2.7',
    });
    const query = 'action=organization.updated';
    const { data } = (await (await app.ask('GET', `/api/audit?${query}`, { credential })).json()) as {
      data: object[];
    };
    expect(data).toMatchObject([{ requestId: 'r-1', address: '192.0.2.7' }]);
    const line = await (await app.ask('GET', `/api/audit/export?${query}`, { credential })).text();
    expect(JSON.parse(line)).toEqual(data[0]);
  });
});

describe('audit log after a user is forgotten', () => {
  it('has no grant that this user made or received and that is still open, but those of others', async () => {
    const app = await createTestApp({ store: delayed });
    const { services, user } = app;
    const [grace, eve] = [await app.addUser('grace@example.com'), await app.addUser('eve@example.com')];
    const intents = services.store.collection(GRANT_INTENTS);
    const add = async (id: string, account: string, userId: string): Promise<void> => {
      const actor = { type: 'user', userId } as const;
      const checkAt = app.clock.now() + 60_000;
      const grant = { account, amount: 1, key: id, reason: 'start' };
      await intents.insert({ id, ...grant, actor, checkAt, createdAt: app.clock.now() });
    };
    await add('received', `user:${user.id}`, grace.id);
    await add('made', `user:${grace.id}`, user.id);
    await add('other', `user:${grace.id}`, eve.id);
    expect(await forgetUser(services, { userId: user.id })).toBe(true);
    expect((await intents.find({})).map(({ id }) => id)).toEqual(['other']);
  });

  it('has no text of what this user owned, and who became a member of it', async () => {
    const app = await createTestApp();
    const { services, user } = app;
    const [grace, eve] = [await app.addUser('grace@example.com'), await app.addUser('eve@example.com')];
    const { body } = await callAs(app, user, 'POST', '/api/organizations', { name: 'Engines' });
    for (const who of [grace, eve]) await shareWith(app, user, `organization/${body._id}`, who, 'write');
    await callAs(app, grace, 'PATCH', `/api/organizations/${body._id}`, { name: 'Looms' });
    const read = async (action: 'organization.updated' | 'organization.member_added') =>
      JSON.stringify(await services.store.collection(AUDIT_LOG).find({ action }));
    expect(await read('organization.updated')).toContain('Looms');
    expect(await forgetUser(services, { userId: user.id })).toBe(true);
    expect(await read('organization.updated')).not.toMatch(/Looms|Engines/);
    expect(await read('organization.member_added')).toContain('administrator');
    // The organization has passed to an administrator, with its log.
    const log = await callAs(app, grace, 'GET', `/api/organizations/${body._id}/audit`);
    expect(log.body.data.map(({ action }: { action: string }) => action)).toContain('organization.created');
  });

  it('does not name the organization that ended with this user, but that of another user', async () => {
    const app = await createTestApp({ store: delayed });
    const { services, user } = app;
    const grace = await app.addUser('grace@example.com');
    const make = async (who: typeof user, name: string): Promise<string> =>
      (await callAs(app, who, 'POST', '/api/organizations', { name })).body._id;
    const deleted = await make(user, 'Engines');
    const others = await make(grace, 'Looms');
    const last = await make(user, 'Mills');
    for (const [who, id] of [
      [user, deleted],
      [grace, others],
    ] as const)
      await callAs(app, who, 'DELETE', `/api/organizations/${id}`);
    expect(await forgetUser(services, { userId: user.id })).toBe(true);
    const text = JSON.stringify(await services.store.collection(AUDIT_LOG).find({}));
    expect([deleted, others, last].map((id) => text.includes(id))).toEqual([false, true, false]);
    expect(text).toContain('Looms');
    for (const name of ['Engines', 'Mills']) expect(text).not.toContain(name);
  });
});
