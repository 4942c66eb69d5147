import { USERS, type UserRecord } from '@questline/core';
import { ORGANIZATIONS, SESSIONS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import {
  type Maker,
  makeAgent,
  makeArtifact,
  makeFile,
  makeOrganization,
  makeProject,
  makeSession,
} from '../support/owned-resources.ts';
import { callAs, shareWith } from '../support/sharing.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

const KINDS: readonly (readonly [type: string, name: string, make: Maker])[] = [
  ['session', 'a session', makeSession],
  ['agent', 'an agent', makeAgent],
  ['file', 'a file', makeFile],
  ['project', 'a project', makeProject],
  ['artifact', 'an artifact', makeArtifact],
  ['organization', 'an organization', makeOrganization],
];

async function setUp() {
  const app = await createTestApp();
  const [grace, eve] = [await app.addUser('grace@example.com'), await app.addUser('eve@example.com')];
  return { app, ada: app.user, grace, eve };
}

const invite = (app: TestApp, who: UserRecord, path: `/api/${string}/${string}`, email: string) =>
  callAs(app, who, 'POST', `${path}/invites`, { email });

async function addUsers({ services, user }: TestApp, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const id = services.ids.next();
    await services.store.collection(USERS).insert({ ...user, id, email: `many-${at}@example.com` });
    ids.push(id);
  }
  return ids;
}

describe.each(KINDS)('invite to %s', (type, name, make) => {
  it('is listed by its resource only, and its mail names the kind', async () => {
    const { app, ada, grace, eve } = await setUp();
    const [path, other] = [
      `/api/${type}/${await make(app, ada)}`,
      `/api/${type}/${await make(app, ada)}`,
    ] as const;
    await invite(app, ada, path, grace.email);
    await invite(app, ada, other, eve.email);
    const list = async (query = '') =>
      (await callAs(app, ada, 'GET', `${path}/invites${query}`)).body.invites.map(
        (one: { email: string }) => one.email,
      );
    expect(await list()).toEqual([grace.email]);
    expect(await list('?search=gra')).toEqual([grace.email]);
    expect(await list('?search=eve')).toEqual([]);
    expect(app.mails[0]?.subject).toBe(`You are invited to ${name} in Questline`);
  });

  it('is read by its recipient, its sender and the owner, and by no other user', async () => {
    const { app, ada, grace, eve } = await setUp();
    const path = `${type}/${await make(app, ada)}` as const;
    const reader = await app.addUser('reader@example.com');
    await shareWith(app, ada, path, reader, 'read');
    const { _id } = (await invite(app, ada, `/api/${path}`, grace.email)).body;
    const read = async (who: UserRecord) => (await callAs(app, who, 'GET', `/api/invite/${_id}`)).status;
    expect([await read(ada), await read(grace), await read(reader), await read(eve)]).toEqual([
      200, 200, 404, 404,
    ]);
  });
});

describe('invite', () => {
  it('to an organization is read by each of its administrators', async () => {
    const { app, ada, grace, eve } = await setUp();
    const id = await makeOrganization(app, ada);
    await shareWith(app, ada, `organization/${id}`, grace, 'write');
    const read = async (who: UserRecord, one: string) =>
      (await callAs(app, who, 'GET', `/api/invite/${one}`)).status;
    const sent = (await invite(app, ada, `/api/organization/${id}`, eve.email)).body._id;
    expect(await read(grace, sent)).toBe(200);
    const more = (await invite(app, grace, `/api/organization/${id}`, 'late@example.com')).body._id;
    expect([await read(ada, more), await read(eve, more)]).toEqual([200, 404]);
    // The sender may read it later, too.
    await callAs(app, grace, 'POST', `/api/organization/${id}/leave`);
    expect([await read(grace, sent), await read(grace, more)]).toEqual([404, 200]);
  });

  it('changes nothing for the owner, whom an administrator has invited', async () => {
    const { app, ada, grace } = await setUp();
    const id = await makeOrganization(app, ada);
    await shareWith(app, ada, `organization/${id}`, grace, 'write');
    await shareWith(app, grace, `organization/${id}`, ada, 'read');
    const kept = await app.services.store.collection(ORGANIZATIONS).get(id);
    expect([kept?.ownerId, kept?.readerIds ?? [], kept?.writerIds]).toEqual([ada.id, [], [grace.id]]);
  });

  it('can be repeated after a refusal and after its expiry, beside pending ones', async () => {
    const { app, ada, grace, eve } = await setUp();
    const path = `/api/session/${await makeSession(app, ada)}` as const;
    await invite(app, ada, path, eve.email);
    const first = (await invite(app, ada, path, grace.email)).body._id;
    expect((await callAs(app, grace, 'POST', `/api/invites/${first}/refuse`)).status).toBe(200);
    const expiresAt = new Date(app.clock.now() + 1000).toISOString();
    const short = { email: grace.email, expiresAt };
    expect((await callAs(app, ada, 'POST', `${path}/invites`, short)).status).toBe(201);
    expect((await invite(app, ada, path, grace.email)).status).toBe(409);
    await app.clock.advance(1000);
    expect((await invite(app, ada, path, grace.email)).status).toBe(201);
    expect((await invite(app, ada, path, eve.email)).status).toBe(409);
  });

  it('names its sender in a workspace of more users than one read of the store returns', async () => {
    const { app, ada } = await setUp();
    await addUsers(app, 1001);
    const sender = await app.addUser('sender@example.com');
    const path = `/api/session/${await makeSession(app, sender)}` as const;
    const { body } = await invite(app, sender, path, ada.email);
    expect(body.sender).toEqual({ name: 'sender', email: sender.email });
  });

  it('is accepted by the thousandth user, and by no further one', async () => {
    const { app, ada, grace, eve } = await setUp();
    const id = await makeSession(app, ada);
    const readerIds = await addUsers(app, 999);
    await app.services.store.collection(SESSIONS).update(id, { readerIds });
    expect((await shareWith(app, ada, `session/${id}`, grace)).status).toBe(200);
    const refused = await shareWith(app, ada, `session/${id}`, eve);
    expect([refused.status, refused.body.error]).toMatchObject([
      409,
      { message: 'It is already shared with the maximum of 1000 people' },
    ]);
    // A user who has a share already may get more rights.
    expect((await shareWith(app, ada, `session/${id}`, grace, 'write')).status).toBe(200);
  });
});

describe('share', () => {
  it('is ended by its user, not by the owner, and not by a reader without one', async () => {
    const { app, ada, grace, eve } = await setUp();
    const id = await makeArtifact(app, ada);
    await callAs(app, ada, 'PATCH', `/api/v1/artifacts/${id}`, { visibility: 'public' });
    await shareWith(app, ada, `artifact/${id}`, grace);
    const leave = async (who: UserRecord) => {
      const { status, body } = await callAs(app, who, 'POST', `/api/artifact/${id}/leave`);
      return [status, body.error?.message];
    };
    expect(await leave(eve)).toEqual([409, 'It is not shared with you']);
    expect(await leave(ada)).toEqual([409, 'The owner cannot leave it']);
    const revoke = async (who: UserRecord) => {
      const body = { userId: who.id };
      return (await callAs(app, who, 'POST', `/api/artifact/${id}/revokeSharing`, body)).status;
    };
    expect([await revoke(ada), await revoke(eve), await revoke(grace)]).toEqual([404, 403, 200]);
    expect(await leave(grace)).toEqual([409, 'It is not shared with you']);
  });
});
