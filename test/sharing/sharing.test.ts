import { API_KEYS, SESSIONS, SHARING_INVITES, USERS, type UserRecord } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { makeOrganization, makeSession } from '../support/possessions.ts';
import { createWorld, type World, type WorldOptions } from '../support/world.ts';

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function call(
  world: World,
  who: UserRecord,
  method: string,
  path: string,
  body?: object,
  headers?: Readonly<Record<string, string>>,
): Promise<Answer> {
  const credential = await world.token(who);
  const answer = await world.ask(method, path, {
    credential,
    ...(body !== undefined && { body }),
    ...(headers !== undefined && { headers }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

interface People {
  readonly world: World;
  readonly ada: UserRecord;
  readonly grace: UserRecord;
  readonly eve: UserRecord;
}

async function people(options: WorldOptions = {}): Promise<People> {
  const world = await createWorld(options);
  return {
    world,
    ada: world.user,
    grace: await world.addUser('grace@example.com'),
    eve: await world.addUser('eve@example.com'),
  };
}

/** Ada shares something of hers with somebody. */
async function share(
  { world, ada }: People,
  path: string,
  who: UserRecord,
  permission: 'read' | 'write',
): Promise<void> {
  const offer = await call(world, ada, 'POST', `${path}/invites`, { email: who.email, permission });
  expect(offer.status).toBe(201);
  expect(await call(world, who, 'POST', `/api/invites/${offer.body._id}/accept`)).toMatchObject({
    status: 200,
  });
}

describe('a share', () => {
  it('to read lets read and no more, one to write lets write, and neither lets share or delete', async () => {
    const all = await people();
    const { world, ada, grace, eve } = all;
    const id = await makeSession(world, ada);
    const path = `/api/session/${id}`;
    const tries = async (who: UserRecord): Promise<number[]> => {
      const answers = [
        await call(world, who, 'GET', path),
        await call(world, who, 'GET', `/api/sessions/${id}`),
        await call(world, who, 'PUT', `/api/sessions/${id}`, { name: 'Other' }),
        await call(world, who, 'DELETE', `/api/sessions/${id}`),
        await call(world, who, 'POST', `${path}/invites`, { email: 'x@example.com' }),
        await call(world, who, 'POST', `${path}/revokeSharing`),
      ];
      return answers.map(({ status }) => status);
    };
    expect(await tries(grace)).toEqual([404, 404, 404, 404, 404, 404]);
    await share(all, path, grace, 'read');
    expect(await tries(grace)).toEqual([200, 200, 404, 404, 403, 403]);
    await share(all, path, grace, 'write');
    expect(await tries(grace)).toEqual([200, 200, 200, 404, 403, 403]);
    // Another invite to read takes nothing away.
    await share(all, path, grace, 'read');
    expect(await tries(grace)).toEqual([200, 200, 200, 404, 403, 403]);
    expect(await tries(eve)).toEqual([404, 404, 404, 404, 404, 404]);
    const kept = await world.services.store.collection(SESSIONS).get(id);
    expect([kept?.ownerId, kept?.readerIds, kept?.writerIds]).toEqual([ada.id, [], [grace.id]]);
  });

  it('ends at once for whom it is revoked, and what was offered to them with it', async () => {
    const all = await people();
    const { world, ada, grace, eve } = all;
    const path = `/api/session/${await makeSession(world, ada)}`;
    await share(all, path, grace, 'write');
    await share(all, path, eve, 'read');
    const more = await call(world, ada, 'POST', `${path}/invites`, { email: grace.email });
    expect(await call(world, ada, 'POST', `${path}/revokeSharing`, { userId: grace.id })).toMatchObject({
      status: 200,
    });
    expect((await call(world, grace, 'GET', path)).status).toBe(404);
    expect((await call(world, eve, 'GET', path)).status).toBe(200);
    expect((await call(world, grace, 'POST', `/api/invites/${more.body._id}/accept`)).status).toBe(409);
    expect((await call(world, ada, 'POST', `${path}/revokeSharing`, { userId: grace.id })).status).toBe(404);
    expect((await call(world, ada, 'POST', `${path}/revokeSharing`)).status).toBe(200);
    expect((await call(world, eve, 'GET', path)).status).toBe(404);
    const invites = await world.services.store.collection(SHARING_INVITES).find({});
    expect(invites.map(({ status }) => status)).toEqual(['revoked', 'revoked', 'revoked']);
  });

  it('is taken once, however often it is asked for at once', async () => {
    const { world, ada, grace } = await people();
    const path = `/api/session/${await makeSession(world, ada)}`;
    const offer = await call(world, ada, 'POST', `${path}/invites`, { email: grace.email });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => call(world, grace, 'POST', `/api/invites/${offer.body._id}/accept`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)]);
  });

  it('of one thing to many people at once loses nobody', async () => {
    const { world, ada } = await people();
    const id = await makeSession(world, ada);
    const guests: UserRecord[] = [];
    for (let count = 0; count < 20; count += 1) guests.push(await world.addUser(`guest${count}@example.com`));
    const offers = await Promise.all(
      guests.map(({ email }) => call(world, ada, 'POST', `/api/session/${id}/invites`, { email })),
    );
    await Promise.all(
      guests.map((guest, at) => call(world, guest, 'POST', `/api/invites/${offers[at]?.body._id}/accept`)),
    );
    const kept = await world.services.store.collection(SESSIONS).get(id);
    expect([...(kept?.readerIds ?? [])].sort()).toEqual(guests.map((guest) => guest.id).sort());
  });
});

describe('an invite', () => {
  it('is one at a time for an address, until it has expired', async () => {
    const { world, ada, grace } = await people();
    const path = `/api/session/${await makeSession(world, ada)}/invites`;
    const expiresAt = new Date(world.clock.now() + 60_000).toISOString();
    const first = await call(world, ada, 'POST', path, { email: grace.email, expiresAt });
    expect((await call(world, ada, 'POST', path, { email: grace.email })).status).toBe(409);
    await world.clock.advance(60_000);
    expect((await call(world, grace, 'POST', `/api/invites/${first.body._id}/accept`)).status).toBe(409);
    const second = await call(world, ada, 'POST', path, { email: grace.email });
    expect((await call(world, grace, 'POST', `/api/invites/${second.body._id}/accept`)).status).toBe(200);
  });

  it('is made once, however often it is asked for at once', async () => {
    const { world, ada, grace } = await people();
    const path = `/api/session/${await makeSession(world, ada)}/invites`;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => call(world, ada, 'POST', path, { email: grace.email })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
  });

  it('waits for somebody who has no account yet', async () => {
    const { world, ada } = await people();
    const path = `/api/session/${await makeSession(world, ada)}`;
    await call(world, ada, 'POST', `${path}/invites`, { email: 'new@example.com' });
    const late = await world.addUser('new@example.com');
    const { body } = await call(world, late, 'GET', '/api/invites');
    const [{ _id }] = body.invites as [{ _id: string }];
    expect((await call(world, late, 'POST', `/api/invites/${_id}/accept`)).status).toBe(200);
    expect((await call(world, late, 'GET', path)).status).toBe(200);
  });

  it('leads nowhere when the thing is gone', async () => {
    const { world, ada, grace } = await people();
    const id = await makeSession(world, ada);
    const offer = await call(world, ada, 'POST', `/api/session/${id}/invites`, { email: grace.email });
    await call(world, ada, 'DELETE', `/api/sessions/${id}`);
    expect(await call(world, grace, 'POST', `/api/invites/${offer.body._id}/accept`)).toMatchObject({
      status: 404,
      body: { error: { message: 'Invite not found' } },
    });
  });
});

describe('the mail of an invite', () => {
  const ofInvites = ({ mails }: World) => mails.filter(({ subject }) => subject.includes('invited'));

  it('says who invites and where, and takes neither words nor addresses from anybody else', async () => {
    const { world, ada } = await people({
      settings: { appName: 'Acme <AI>', publicUrl: 'https://ai.example.com' },
    });
    const id = await makeSession(world, ada);
    const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' };
    await call(world, ada, 'POST', `/api/session/${id}/invites`, { email: 'Grace@Example.com' }, headers);
    const [mail] = ofInvites(world);
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

  it('names no address when the host has told none', async () => {
    const { world, ada } = await people();
    const id = await makeSession(world, ada);
    await call(world, ada, 'POST', `/api/session/${id}/invites`, { email: 'grace@example.com' });
    expect(ofInvites(world)[0]?.text).toContain('Sign in with this address');
    expect(ofInvites(world)[0]?.text).not.toMatch(/https?:/);
  });

  it('comes to one address five times an hour, whoever invites it; the invites are made all the same', async () => {
    const { world, ada, grace, eve } = await people();
    for (const owner of [ada, eve, ada, eve, ada, eve, ada]) {
      const id = await makeSession(world, owner);
      const made = await call(world, owner, 'POST', `/api/session/${id}/invites`, { email: grace.email });
      expect(made.status).toBe(201);
    }
    expect(ofInvites(world)).toHaveLength(5);
    expect((await call(world, grace, 'GET', '/api/invites')).body.pagination).toMatchObject({ total: 7 });
  });

  it('goes out fifty times an hour for one person; the invites are made all the same', async () => {
    const { world, ada, grace } = await people();
    const id = await makeSession(world, ada);
    for (let count = 0; count < 60; count += 1) {
      const email = `guest-${count}@example.com`;
      const made = await call(world, ada, 'POST', `/api/session/${id}/invites`, { email });
      expect(made.status).toBe(201);
    }
    expect(ofInvites(world)).toHaveLength(50);
    const other = await makeSession(world, grace);
    await call(world, grace, 'POST', `/api/session/${other}/invites`, { email: 'guest-59@example.com' });
    expect(ofInvites(world)).toHaveLength(51);
  });

  it('may fail: the invite stands', async () => {
    const failure = new Error('smtp.internal refused');
    const { world, ada, grace } = await people({ mailer: () => ({ send: () => Promise.reject(failure) }) });
    const id = await makeSession(world, ada);
    const made = await call(world, ada, 'POST', `/api/session/${id}/invites`, { email: grace.email });
    expect(made.status).toBe(201);
    expect(world.incidents.map(({ error }) => error)).toEqual([failure]);
    expect((await call(world, grace, 'GET', '/api/invites')).body.pagination).toMatchObject({ total: 1 });
  });
});

describe('an organization', () => {
  it('is read by administrators of the workspace, as they see it in the list, and by no other stranger', async () => {
    const { world, ada, grace, eve } = await people();
    const id = await makeOrganization(world, ada);
    const path = `/api/organization/${id}`;
    await world.services.store.collection(USERS).update(eve.id, { isAdmin: true });
    const [listed] = (await call(world, eve, 'GET', '/api/organizations')).body.organizations as object[];
    expect(await call(world, eve, 'GET', path)).toEqual({ status: 200, body: listed });
    expect((await call(world, grace, 'GET', path)).status).toBe(404);
    // It is not theirs for all that, and what people write is nobody else's.
    expect((await call(world, eve, 'POST', `${path}/invites`, { email: 'x@example.com' })).status).toBe(403);
    expect((await call(world, eve, 'POST', `${path}/revokeSharing`)).status).toBe(403);
    expect((await call(world, eve, 'GET', `/api/session/${await makeSession(world, ada)}`)).status).toBe(404);
  });

  const billed = (organizationId: string) => ({ name: 'CI', scopes: ['me:read'], organizationId });

  it('is joined by an invite; administrators make keys it pays for, which end with belonging to it', async () => {
    const all = await people();
    const { world, ada, grace, eve } = all;
    const { store } = world.services;
    const id = await makeOrganization(world, ada);
    const path = `/api/organization/${id}`;
    expect((await call(world, grace, 'POST', '/api/user-api-keys', billed(id))).status).toBe(403);
    await share(all, path, grace, 'read');
    await share(all, path, eve, 'write');
    expect((await call(world, grace, 'GET', '/api/organizations')).body.organizations).toMatchObject([
      { _id: id, memberCount: 3 },
    ]);
    expect((await call(world, grace, 'GET', '/api/users')).body.pagination).toMatchObject({ total: 3 });
    expect((await call(world, grace, 'POST', '/api/user-api-keys', billed(id))).status).toBe(403);
    const made = await call(world, eve, 'POST', '/api/user-api-keys', billed(id));
    expect(made.status).toBe(201);
    const key = made.body.key as string;
    await world.ledger.grant({ account: `organization:${id}`, amount: 7_000_000, key: 'k', reason: 'start' });
    const balance = await world.ask('GET', '/api/v1/credits', { credential: key });
    expect(await balance.json()).toEqual({ balance: 7 });
    // An administrator invites too, and what they have offered ends with them.
    const offer = await call(world, eve, 'POST', `${path}/invites`, { email: 'new@example.com' });
    expect(offer.status).toBe(201);
    expect((await call(world, eve, 'POST', `${path}/revokeSharing`)).status).toBe(403);

    expect((await call(world, ada, 'POST', `${path}/revokeSharing`, { userId: eve.id })).status).toBe(200);
    expect((await world.ask('GET', '/api/v1/credits', { credential: key })).status).toBe(401);
    expect((await call(world, eve, 'GET', path)).status).toBe(404);
    const late = await world.addUser('new@example.com');
    expect((await call(world, late, 'POST', `/api/invites/${offer.body._id}/accept`)).status).toBe(409);
    expect((await store.collection(USERS).get(eve.id))?.organizationId).toBeNull();
    expect((await store.collection(USERS).get(grace.id))?.organizationId).toBe(id);
    expect(await store.collection(API_KEYS).count({ organizationId: id, status: 'active' })).toBe(0);
  });
});
