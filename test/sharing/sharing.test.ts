import { USERS, type UserRecord } from '@questline/core';
import { API_KEYS, SESSIONS, SHARING_INVITES } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { makeOrganization, makeSession } from '../support/owned-resources.ts';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/test-app.ts';

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function call(
  app: TestApp,
  who: UserRecord,
  method: string,
  path: string,
  body?: object,
  headers?: Readonly<Record<string, string>>,
): Promise<Answer> {
  const credential = await app.token(who);
  const answer = await app.ask(method, path, {
    credential,
    ...(body !== undefined && { body }),
    ...(headers !== undefined && { headers }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

interface People {
  readonly app: TestApp;
  readonly ada: UserRecord;
  readonly grace: UserRecord;
  readonly eve: UserRecord;
}

async function people(options: TestAppOptions = {}): Promise<People> {
  const app = await createTestApp(options);
  return {
    app,
    ada: app.user,
    grace: await app.addUser('grace@example.com'),
    eve: await app.addUser('eve@example.com'),
  };
}

/** Ada shares one of her resources with another user. */
async function share(
  { app, ada }: People,
  path: string,
  who: UserRecord,
  permission: 'read' | 'write',
): Promise<void> {
  const offer = await call(app, ada, 'POST', `${path}/invites`, { email: who.email, permission });
  expect(offer.status).toBe(201);
  expect(await call(app, who, 'POST', `/api/invites/${offer.body._id}/accept`)).toMatchObject({
    status: 200,
  });
}

describe('share', () => {
  it('to read allows reading and to write allows writing, and neither allows sharing or deletion', async () => {
    const all = await people();
    const { app, ada, grace, eve } = all;
    const id = await makeSession(app, ada);
    const path = `/api/session/${id}`;
    const tries = async (who: UserRecord): Promise<number[]> => {
      const answers = [
        await call(app, who, 'GET', path),
        await call(app, who, 'GET', `/api/sessions/${id}`),
        await call(app, who, 'PUT', `/api/sessions/${id}`, { name: 'Other' }),
        await call(app, who, 'DELETE', `/api/sessions/${id}`),
        await call(app, who, 'POST', `${path}/invites`, { email: 'x@example.com' }),
        await call(app, who, 'POST', `${path}/revokeSharing`),
      ];
      return answers.map(({ status }) => status);
    };
    expect(await tries(grace)).toEqual([404, 404, 404, 404, 404, 404]);
    await share(all, path, grace, 'read');
    expect(await tries(grace)).toEqual([200, 200, 404, 404, 403, 403]);
    await share(all, path, grace, 'write');
    expect(await tries(grace)).toEqual([200, 200, 200, 404, 403, 403]);
    // Accepting a read invite does not reduce an existing write share.
    await share(all, path, grace, 'read');
    expect(await tries(grace)).toEqual([200, 200, 200, 404, 403, 403]);
    expect(await tries(eve)).toEqual([404, 404, 404, 404, 404, 404]);
    const kept = await app.services.store.collection(SESSIONS).get(id);
    expect([kept?.ownerId, kept?.readerIds, kept?.writerIds]).toEqual([ada.id, [], [grace.id]]);
  });

  it('ends at once when it is revoked, together with pending invites of that user', async () => {
    const all = await people();
    const { app, ada, grace, eve } = all;
    const path = `/api/session/${await makeSession(app, ada)}`;
    await share(all, path, grace, 'write');
    await share(all, path, eve, 'read');
    const more = await call(app, ada, 'POST', `${path}/invites`, { email: grace.email });
    expect(await call(app, ada, 'POST', `${path}/revokeSharing`, { userId: grace.id })).toMatchObject({
      status: 200,
    });
    expect((await call(app, grace, 'GET', path)).status).toBe(404);
    expect((await call(app, eve, 'GET', path)).status).toBe(200);
    expect((await call(app, grace, 'POST', `/api/invites/${more.body._id}/accept`)).status).toBe(409);
    expect((await call(app, ada, 'POST', `${path}/revokeSharing`, { userId: grace.id })).status).toBe(404);
    expect((await call(app, ada, 'POST', `${path}/revokeSharing`)).status).toBe(200);
    expect((await call(app, eve, 'GET', path)).status).toBe(404);
    const invites = await app.services.store.collection(SHARING_INVITES).find({});
    expect(invites.map(({ status }) => status)).toEqual(['revoked', 'revoked', 'revoked']);
  });

  it('is accepted once by parallel attempts', async () => {
    const { app, ada, grace } = await people();
    const path = `/api/session/${await makeSession(app, ada)}`;
    const offer = await call(app, ada, 'POST', `${path}/invites`, { email: grace.email });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => call(app, grace, 'POST', `/api/invites/${offer.body._id}/accept`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)]);
  });

  it('is kept for every user of parallel shares', async () => {
    const { app, ada } = await people();
    const id = await makeSession(app, ada);
    const guests: UserRecord[] = [];
    for (let count = 0; count < 20; count += 1) guests.push(await app.addUser(`guest${count}@example.com`));
    const offers = await Promise.all(
      guests.map(({ email }) => call(app, ada, 'POST', `/api/session/${id}/invites`, { email })),
    );
    await Promise.all(
      guests.map((guest, at) => call(app, guest, 'POST', `/api/invites/${offers[at]?.body._id}/accept`)),
    );
    const kept = await app.services.store.collection(SESSIONS).get(id);
    expect([...(kept?.readerIds ?? [])].sort()).toEqual(guests.map((guest) => guest.id).sort());
  });
});

describe('share invite', () => {
  it('exists once per address until it expires', async () => {
    const { app, ada, grace } = await people();
    const path = `/api/session/${await makeSession(app, ada)}/invites`;
    const expiresAt = new Date(app.clock.now() + 60_000).toISOString();
    const first = await call(app, ada, 'POST', path, { email: grace.email, expiresAt });
    expect((await call(app, ada, 'POST', path, { email: grace.email })).status).toBe(409);
    await app.clock.advance(60_000);
    expect((await call(app, grace, 'POST', `/api/invites/${first.body._id}/accept`)).status).toBe(409);
    const second = await call(app, ada, 'POST', path, { email: grace.email });
    expect((await call(app, grace, 'POST', `/api/invites/${second.body._id}/accept`)).status).toBe(200);
  });

  it('is created once by parallel attempts', async () => {
    const { app, ada, grace } = await people();
    const path = `/api/session/${await makeSession(app, ada)}/invites`;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => call(app, ada, 'POST', path, { email: grace.email })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
  });

  it('waits for a user without an account', async () => {
    const { app, ada } = await people();
    const path = `/api/session/${await makeSession(app, ada)}`;
    await call(app, ada, 'POST', `${path}/invites`, { email: 'new@example.com' });
    const late = await app.addUser('new@example.com');
    const { body } = await call(app, late, 'GET', '/api/invites');
    const [{ _id }] = body.invites as [{ _id: string }];
    expect((await call(app, late, 'POST', `/api/invites/${_id}/accept`)).status).toBe(200);
    expect((await call(app, late, 'GET', path)).status).toBe(200);
  });

  it('is unknown once the resource is deleted', async () => {
    const { app, ada, grace } = await people();
    const id = await makeSession(app, ada);
    const offer = await call(app, ada, 'POST', `/api/session/${id}/invites`, { email: grace.email });
    await call(app, ada, 'DELETE', `/api/sessions/${id}`);
    expect(await call(app, grace, 'POST', `/api/invites/${offer.body._id}/accept`)).toMatchObject({
      status: 404,
      body: { error: { message: 'Invite not found' } },
    });
  });
});

describe('invite mail', () => {
  const ofInvites = ({ mails }: TestApp) => mails.filter(({ subject }) => subject.includes('invited'));

  it('names the inviting user and the app, and contains no text or address of other users', async () => {
    const { app, ada } = await people({
      settings: { appName: 'Acme <AI>', publicUrl: 'https://ai.example.com' },
    });
    const id = await makeSession(app, ada);
    const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' };
    await call(app, ada, 'POST', `/api/session/${id}/invites`, { email: 'Grace@Example.com' }, headers);
    const [mail] = ofInvites(app);
    expect(mail?.to).toBe('grace@example.com');
    expect(mail?.subject).toBe('You are invited to a session in Acme <AI>');
    expect(mail?.text).toBe(
      'ada@example.com has invited you to a session in Acme <AI>.\n\n' +
        'Sign in at https://ai.example.com with this address to accept or refuse.\n\n' +
        'If you do not know the sender, ignore this mail.\n',
    );
    expect(mail?.html).toContain('Acme &lt;AI&gt;');
    expect(JSON.stringify(mail)).not.toContain('evil');
    expect(JSON.stringify(mail)).not.toContain('Notes');
  });

  it('contains no link when the host has configured no address', async () => {
    const { app, ada } = await people();
    const id = await makeSession(app, ada);
    await call(app, ada, 'POST', `/api/session/${id}/invites`, { email: 'grace@example.com' });
    expect(ofInvites(app)[0]?.text).toContain('Sign in with this address');
    expect(ofInvites(app)[0]?.text).not.toMatch(/https?:/);
  });

  it('is sent five times an hour per recipient, from any user; all invites are created', async () => {
    const { app, ada, grace, eve } = await people();
    for (const owner of [ada, eve, ada, eve, ada, eve, ada]) {
      const id = await makeSession(app, owner);
      const made = await call(app, owner, 'POST', `/api/session/${id}/invites`, { email: grace.email });
      expect(made.status).toBe(201);
    }
    expect(ofInvites(app)).toHaveLength(5);
    expect((await call(app, grace, 'GET', '/api/invites')).body.pagination).toMatchObject({ total: 7 });
  });

  it('is sent fifty times an hour per sender; all invites are created', async () => {
    const { app, ada, grace } = await people();
    const id = await makeSession(app, ada);
    for (let count = 0; count < 60; count += 1) {
      const email = `guest-${count}@example.com`;
      const made = await call(app, ada, 'POST', `/api/session/${id}/invites`, { email });
      expect(made.status).toBe(201);
    }
    expect(ofInvites(app)).toHaveLength(50);
    const other = await makeSession(app, grace);
    await call(app, grace, 'POST', `/api/session/${other}/invites`, { email: 'guest-59@example.com' });
    expect(ofInvites(app)).toHaveLength(51);
  });

  it('can fail without affecting the invite', async () => {
    const failure = new Error('smtp.internal refused');
    const { app, ada, grace } = await people({ mailer: () => ({ send: () => Promise.reject(failure) }) });
    const id = await makeSession(app, ada);
    const made = await call(app, ada, 'POST', `/api/session/${id}/invites`, { email: grace.email });
    expect(made.status).toBe(201);
    expect(app.incidents.map(({ error }) => error)).toEqual([failure]);
    expect((await call(app, grace, 'GET', '/api/invites')).body.pagination).toMatchObject({ total: 1 });
  });
});

describe('organization', () => {
  it('is readable by administrators of the workspace, as in their list, and by no other stranger', async () => {
    const { app, ada, grace, eve } = await people();
    const id = await makeOrganization(app, ada);
    const path = `/api/organization/${id}`;
    await app.services.store.collection(USERS).update(eve.id, { isAdmin: true });
    const [listed] = (await call(app, eve, 'GET', '/api/organizations')).body.organizations as object[];
    expect(await call(app, eve, 'GET', path)).toEqual({ status: 200, body: listed });
    expect((await call(app, grace, 'GET', path)).status).toBe(404);
    // They still cannot change it or read private texts.
    expect((await call(app, eve, 'POST', `${path}/invites`, { email: 'x@example.com' })).status).toBe(403);
    expect((await call(app, eve, 'POST', `${path}/revokeSharing`)).status).toBe(403);
    expect((await call(app, eve, 'GET', `/api/session/${await makeSession(app, ada)}`)).status).toBe(404);
  });

  const billed = (organizationId: string) => ({ name: 'CI', scopes: ['me:read'], organizationId });

  it('is joined by an invite; its administrators create keys it pays for, which end with the membership', async () => {
    const all = await people();
    const { app, ada, grace, eve } = all;
    const { store } = app.services;
    const id = await makeOrganization(app, ada);
    const path = `/api/organization/${id}`;
    expect((await call(app, grace, 'POST', '/api/user-api-keys', billed(id))).status).toBe(403);
    await share(all, path, grace, 'read');
    await share(all, path, eve, 'write');
    expect((await call(app, grace, 'GET', '/api/organizations')).body.organizations).toMatchObject([
      { _id: id, memberCount: 3 },
    ]);
    expect((await call(app, grace, 'GET', '/api/users')).body.pagination).toMatchObject({ total: 3 });
    expect((await call(app, grace, 'POST', '/api/user-api-keys', billed(id))).status).toBe(403);
    const made = await call(app, eve, 'POST', '/api/user-api-keys', billed(id));
    expect(made.status).toBe(201);
    const key = made.body.key as string;
    await app.ledger.grant({ account: `organization:${id}`, amount: 7_000_000, key: 'k', reason: 'start' });
    const balance = await app.ask('GET', '/api/v1/credits', { credential: key });
    expect(await balance.json()).toEqual({ balance: 7 });
    // An administrator can invite too, and pending invites end with the role.
    const offer = await call(app, eve, 'POST', `${path}/invites`, { email: 'new@example.com' });
    expect(offer.status).toBe(201);
    expect((await call(app, eve, 'POST', `${path}/revokeSharing`)).status).toBe(403);

    expect((await call(app, ada, 'POST', `${path}/revokeSharing`, { userId: eve.id })).status).toBe(200);
    expect((await app.ask('GET', '/api/v1/credits', { credential: key })).status).toBe(401);
    expect((await call(app, eve, 'GET', path)).status).toBe(404);
    const late = await app.addUser('new@example.com');
    expect((await call(app, late, 'POST', `/api/invites/${offer.body._id}/accept`)).status).toBe(409);
    expect((await store.collection(USERS).get(eve.id))?.organizationId).toBeNull();
    expect((await store.collection(USERS).get(grace.id))?.organizationId).toBe(id);
    expect(await store.collection(API_KEYS).count({ organizationId: id, status: 'active' })).toBe(0);
  });
});
