import type { UserRecord } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { type ChatAppOptions, createChatApp, sayAtOnce } from '../support/chat.ts';
import { createScriptedProvider, type ModelCall, SCRIPTED_MODEL } from '../support/model.ts';
import {
  type Maker,
  makeAgent,
  makeArtifact,
  makeFile,
  makeProject,
  makeSession,
} from '../support/owned-resources.ts';
import { callAs, readList, shareWith } from '../support/sharing.ts';
import { adminToken } from '../support/sign-in.ts';

/** A turn of the scripted model: 10 input tokens and one output token. */
const TURN = 0.11;
const TALK = { message: 'Hi', newConversation: true, wait: true };

/** An organization of Ada with a member and an administrator; Eve is a stranger, Root administers the workspace. */
async function setUp(options: ChatAppOptions = {}) {
  const app = await createChatApp(options);
  await adminToken(app);
  const people = {
    root: app.user,
    ada: await app.addUser('countess@example.com'),
    member: await app.addUser('member@example.com'),
    administrator: await app.addUser('administrator@example.com'),
    eve: await app.addUser('eve@example.com'),
  };
  const made = await callAs(app, people.ada, 'POST', '/api/organizations', { name: 'Engines' });
  const id: string = made.body._id;
  await shareWith(app, people.ada, `organization/${id}`, people.member, 'read');
  await shareWith(app, people.ada, `organization/${id}`, people.administrator, 'write');
  const path = `/api/organizations/${id}` as const;
  const as = <const Method extends string, const Rest extends string = ''>(
    who: UserRecord,
    method: Method,
    rest = '' as Rest,
    body?: object,
  ) => callAs(app, who, method, `${path}${rest}`, body);
  return {
    app,
    ...people,
    id,
    as,
    grant: (credits: number, key: string, who = people.root) =>
      as(who, 'POST', '/credit-grants', { credits, key, reason: 'Invoice 7' }),
    credits: async () => (await as(people.ada, 'GET', '/credits')).body,
    chat: (who: UserRecord, change: object = {}) =>
      callAs(app, who, 'POST', '/api/chat', { ...TALK, organizationId: id, ...change }),
    balanceOf: async (who: UserRecord) => (await callAs(app, who, 'GET', '/api/v1/credits')).body.balance,
  };
}

describe('credit of an organization', () => {
  it('is granted once per key, pays for its members, and is shown to those who administer it', async () => {
    const { app, root, ada, member, administrator, eve, as, grant, credits, chat, balanceOf } = await setUp();
    expect(await credits()).toEqual({ balance: 0, reserved: 0 });
    const refused = (await chat(member)).body;
    expect(refused).toMatchObject({ type: 'error', errorCode: 'insufficient_credits' });
    expect(refused.response).toContain('The organization has 0 credits');

    expect((await grant(100, 'invoice-7')).body).toEqual({ granted: true, balance: 100, reserved: 0 });
    expect((await grant(100, 'invoice-7')).body).toEqual({ granted: false, balance: 100, reserved: 0 });
    for (const who of [ada, member, administrator, eve])
      expect([who.email, (await grant(5, 'own', who)).status]).toEqual([who.email, 403]);

    const before = await balanceOf(member);
    expect((await chat(member)).body).toMatchObject({ type: 'message' });
    expect(await balanceOf(member)).toBe(before);
    for (const who of [root, ada, administrator])
      expect((await as(who, 'GET', '/credits')).body).toEqual({ balance: 100 - TURN, reserved: 0 });
    expect((await as(member, 'GET', '/credits')).status).toBe(403);
    const report = await as(ada, 'GET', '/usage-report?group_by=user&to=2026-11-23');
    expect(report.body.groups).toMatchObject([{ group: { user: member.id }, credits: TURN }]);
    const own = await callAs(app, member, 'GET', '/api/v1/usage/report?group_by=organization&to=2026-11-23');
    expect(own.body.total.credits).toBe(TURN);
    expect((await chat(eve)).status).toBe(404);
  });

  it('shows what running work holds, which keeps the organization until it ends', async () => {
    const calls: ModelCall[] = [];
    const all = await setUp({ onCall: (call) => void calls.push(call) });
    const { app, ada, member, as, grant, credits, chat } = all;
    await grant(1000, 'k');
    const { body } = await chat(member, { wait: false });
    await app.settle();
    const { balance, reserved } = await credits();
    expect(reserved).toBeGreaterThan(0);
    expect(balance + reserved).toBeCloseTo(1000, 6);
    expect((await as(ada, 'DELETE')).body.error.message).toContain('pays for calls that still run');
    // A member who leaves keeps the work that was accepted before.
    await callAs(app, member, 'POST', `/api/organization/${all.id}/leave`);
    for (const call of calls) sayAtOnce('Hello.')(call);
    await app.settle();
    expect((await callAs(app, member, 'GET', `/api/v1/quests/${body.id}`)).body.status).toBe('done');
    expect(await credits()).toEqual({ balance: 1000 - TURN, reserved: 0 });
    expect((await as(ada, 'DELETE')).body.error.message).toContain('has 999.89 credits');
    expect((await grant(TURN - 1000, 'back')).body.balance).toBe(0);
    expect((await as(ada, 'DELETE')).status).toBe(204);
    expect((await grant(1, 'late')).status).toBe(404);
    expect((await as(ada, 'GET', '/credits')).status).toBe(404);
  });
});

/** A role in the organization and the status of each act. Keys answer 403 for every organization of others. */
const ACTS: readonly (readonly [
  act: string,
  request: (id: string, who: UserRecord) => readonly [method: string, path: string, body?: object],
  statuses: readonly [member: number, administrator: number, stranger: number],
])[] = [
  ['see it', (id) => ['GET', `/api/organization/${id}`], [200, 200, 404]],
  ['see its credits', (id) => ['GET', `/api/organizations/${id}/credits`], [403, 200, 404]],
  ['see its usage', (id) => ['GET', `/api/organizations/${id}/usage-report`], [403, 200, 404]],
  ['export', (id) => ['GET', `/api/organizations/${id}/credits/export`], [403, 200, 404]],
  ['see its audit log', (id) => ['GET', `/api/organizations/${id}/audit`], [403, 200, 404]],
  ['rename', (id) => ['PATCH', `/api/organizations/${id}`, { name: 'Engines' }], [403, 200, 404]],
  ['limit models', (id) => ['PATCH', `/api/organizations/${id}`, { models: null }], [403, 200, 404]],
  ['see invites', (id) => ['GET', `/api/organization/${id}/invites`], [403, 200, 404]],
  [
    'invite',
    (id, who) => ['POST', `/api/organization/${id}/invites`, { email: `by-${who.id}@example.com` }],
    [403, 201, 404],
  ],
  ['make a key', (id) => ['POST', '/api/user-api-keys', { ...KEY, organizationId: id }], [403, 201, 403]],
  ['make a budget', (id) => ['POST', '/api/budgets', { ...BUDGET, scopeId: id }], [404, 201, 404]],
  ['see budgets', (id) => ['GET', `/api/budgets?scope=organization&scopeId=${id}`], [404, 200, 404]],
  ['make a webhook', (id) => ['POST', '/api/webhooks', { ...WEBHOOK, organizationId: id }], [404, 201, 404]],
  ['see webhooks', (id) => ['GET', `/api/webhooks?organizationId=${id}`], [404, 200, 404]],
  ['grant credit', (id) => ['POST', `/api/organizations/${id}/credit-grants`, GRANT], [403, 403, 403]],
  ['remove a member', (id) => ['POST', `/api/organization/${id}/revokeSharing`, {}], [403, 403, 404]],
  [
    'transfer',
    (id, who) => ['POST', `/api/organizations/${id}/transfer`, { userId: who.id }],
    [403, 403, 404],
  ],
  ['delete', (id) => ['DELETE', `/api/organizations/${id}`], [403, 403, 404]],
  ['chat', (id) => ['POST', '/api/chat', { ...TALK, organizationId: id }], [200, 200, 404]],
];

const KEY = { name: 'CI', scopes: ['me:read'] };
const BUDGET = { scope: 'organization', window: 'day', limit: { unit: 'requests', amount: 9 } };
const WEBHOOK = { url: 'https://hooks.example.com/in', types: ['quest.done'] };
const GRANT = { credits: 5, key: 'own' };

describe('role in an organization', () => {
  it('decides what a member and an administrator may do; a stranger gets the answers for an unknown id', async () => {
    const { app, id, member, administrator, eve, grant } = await setUp();
    await grant(100, 'k');
    const send = async (who: UserRecord, at: number, organizationId: string) => {
      const [method, path, body] = ACTS[at]?.[1](organizationId, who) ?? ['GET', '/'];
      const credential = await app.token(who);
      const headers = { 'X-Request-ID': 'journey' };
      const answer = await app.ask(method, path, {
        credential,
        headers,
        ...(body !== undefined && { body }),
      });
      const text = (await answer.text()).replaceAll(organizationId, 'ID');
      return { status: answer.status, text };
    };
    for (const [at, [act, , [forMember, forAdministrator, forStranger]]] of ACTS.entries()) {
      const statuses = [];
      for (const who of [member, administrator, eve]) statuses.push((await send(who, at, id)).status);
      expect([act, ...statuses]).toEqual([act, forMember, forAdministrator, forStranger]);
      expect([act, await send(eve, at, id)]).toEqual([act, await send(eve, at, 'f'.repeat(24))]);
    }
    expect((await callAs(app, eve, 'GET', '/api/organizations')).body.organizations).toEqual([]);
    const others = await callAs(app, eve, 'GET', `/api/users?organizationId=${id}`);
    expect(others.body.users).toEqual([]);
  });

  it('passes to a member with a transfer; the owner before administers it', async () => {
    const { app, id, ada, member, as, grant } = await setUp();
    await grant(100, 'k');
    expect((await as(ada, 'POST', '/transfer', { userId: member.id })).body.ownerId).toBe(member.id);
    expect((await as(member, 'GET', '/credits')).body).toEqual({ balance: 100, reserved: 0 });
    expect((await as(ada, 'GET', '/credits')).status).toBe(200);
    expect((await as(ada, 'DELETE')).status).toBe(403);
    expect((await callAs(app, member, 'POST', `/api/organization/${id}/leave`)).status).toBe(409);
    const one = `/api/organization/${id}/revokeSharing`;
    expect((await callAs(app, member, 'POST', one, { userId: ada.id })).status).toBe(200);
    expect((await as(ada, 'GET', '/credits')).status).toBe(404);
  });
});

describe('removed member', () => {
  it('loses at once what the membership gave', async () => {
    const { app, id, ada, administrator: gone, as, grant, chat, credits } = await setUp();
    await app.services.adminSettings.set('EnableDataLakes', true);
    await grant(100, 'k');
    const scopes = ['ai:chat', 'me:read'];
    const made = await callAs(app, gone, 'POST', '/api/user-api-keys', {
      ...{ name: 'CI', scopes, organizationId: id },
    });
    const credential: string = made.body.key;
    const lake = await callAs(app, ada, 'POST', '/api/v1/data-lakes', { name: 'L', organization_id: id });
    const artifact = await makeArtifact(app, ada);
    const visible = { visibility: 'organization' };
    expect((await callAs(app, ada, 'PATCH', `/api/v1/artifacts/${artifact}`, visible)).status).toBe(200);
    const tries = async () => [
      (await app.json('GET', '/api/v1/credits', { credential })).status,
      (await chat(gone)).status,
      (await as(gone, 'GET', '/credits')).status,
      (await callAs(app, gone, 'GET', `/api/organization/${id}`)).status,
      (await callAs(app, gone, 'GET', `/api/v1/data-lakes/${lake.body.id}`)).status,
      (await callAs(app, gone, 'GET', `/api/v1/artifacts/${artifact}`)).status,
      (await callAs(app, gone, 'GET', `/api/budgets?scope=organization&scopeId=${id}`)).status,
      (await callAs(app, gone, 'GET', `/api/webhooks?organizationId=${id}`)).status,
      (await callAs(app, gone, 'GET', `/api/users/${ada.id}`)).status,
    ];
    expect(await tries()).toEqual(Array(9).fill(200));
    const path = `/api/organization/${id}/revokeSharing` as const;
    expect((await callAs(app, ada, 'POST', path, { userId: gone.id })).status).toBe(200);
    expect(await tries()).toEqual([401, ...Array(8).fill(404)]);
    expect((await callAs(app, gone, 'GET', '/api/organizations')).body.organizations).toEqual([]);
    expect((await credits()).balance).toBe(100 - TURN);
  });

  it('loses the invites it sent, and the same address can be invited by others', async () => {
    const { app, id, ada, administrator: gone } = await setUp();
    const invites = `/api/organization/${id}/invites` as const;
    const offer = { email: 'late@example.com' };
    const invite = async (who: UserRecord) => (await callAs(app, who, 'POST', invites, offer)).status;
    expect([await invite(gone), await invite(ada)]).toEqual([201, 409]);
    expect((await callAs(app, gone, 'POST', `/api/organization/${id}/leave`)).status).toBe(200);
    expect(await invite(ada)).toBe(201);
    const { body } = await callAs(app, ada, 'GET', invites);
    const late = body.invites.filter(({ email }: { email: string }) => email === offer.email);
    expect(late.map(({ status }: { status: string }) => status).sort()).toEqual(['pending', 'revoked']);
  });

  it('is in the audit log with the roles before and after', async () => {
    const { app, id, ada, administrator: gone, as } = await setUp();
    await callAs(app, ada, 'POST', `/api/organization/${id}/revokeSharing`, { userId: gone.id });
    const { body } = await as(ada, 'GET', '/audit');
    const entries: readonly { action: string; changes: readonly { field: string }[] }[] = body.data;
    const roles = entries.flatMap(({ action, changes }) =>
      changes.filter(({ field }) => field === 'role').map((role) => [action, role]),
    );
    const change = { field: 'role', before: null, after: null };
    // Acts of the same millisecond have no order.
    expect(new Set(roles)).toEqual(
      new Set([
        ['organization.member_removed', { ...change, before: 'administrator' }],
        ['organization.member_added', { ...change, after: 'administrator' }],
        ['organization.member_added', { ...change, after: 'member' }],
      ]),
    );
  });
});

describe('limits of an organization', () => {
  it('hold for what its members let it pay, and for nothing else', async () => {
    const other = { ...SCRIPTED_MODEL, id: 'other', name: 'Other' };
    const model = createScriptedProvider(sayAtOnce('Hello.'), [SCRIPTED_MODEL, other]);
    const { app, id, ada, member, as, grant, chat } = await setUp({ model });
    await grant(500, 'k');
    await app.ledger.grant({ account: `user:${member.id}`, amount: 500_000_000, key: 'k', reason: 'own' });
    expect((await as(ada, 'PATCH', '', { models: ['other'] })).status).toBe(200);
    expect((await chat(member, { model: 'scripted' })).status).toBe(422);
    expect((await chat(member)).body).toMatchObject({ type: 'message', model: 'other' });
    const own = { ...TALK, model: 'scripted' };
    expect((await callAs(app, member, 'POST', '/api/chat', own)).body.type).toBe('message');

    const budget = { ...BUDGET, scopeId: id, name: 'Two', limit: { unit: 'requests', amount: 2 } };
    expect((await callAs(app, ada, 'POST', '/api/budgets', budget)).status).toBe(201);
    const answers = [await chat(member), await chat(ada), await chat(member), await chat(ada)];
    expect(answers.map(({ body }) => body.type)).toEqual(['message', 'message', 'error', 'error']);
    expect(answers.at(-1)?.body.response).toContain('Two');
    expect((await callAs(app, member, 'POST', '/api/chat', own)).body.type).toBe('message');
  });
});

describe('shared records', () => {
  const KINDS: readonly (readonly [type: string, make: Maker, list: string, field?: string])[] = [
    ['session', makeSession, '/api/v1/sessions'],
    ['agent', makeAgent, '/api/v1/agents'],
    ['agent', makeAgent, '/api/agents', 'agents'],
    ['file', makeFile, '/api/v1/files'],
    ['project', makeProject, '/api/v1/projects'],
    ['artifact', makeArtifact, '/api/v1/artifacts'],
  ];

  it('are listed for the user of the share only, and for members the lakes and artifacts of an organization', async () => {
    const { app, id, ada, member, eve } = await setUp();
    await app.services.adminSettings.set('EnableDataLakes', true);
    for (const [type, make, path, field = 'data'] of KINDS) {
      const shared = await make(app, ada);
      await shareWith(app, ada, `${type}/${shared}`, member, 'read');
      const listed = async (who: UserRecord) =>
        (await readList(app, who, `${path}?shared=true`, field)).map(({ id }) => id);
      expect([type, await listed(member), await listed(eve)]).toEqual([
        type,
        expect.arrayContaining([shared]),
        [],
      ]);
    }
    await callAs(app, ada, 'POST', '/api/v1/data-lakes', { name: 'L', organization_id: id });
    const lakes = async (who: UserRecord) =>
      (await callAs(app, who, 'GET', '/api/v1/data-lakes')).body.data.map(
        (one: { name: string }) => one.name,
      );
    expect([await lakes(member), await lakes(eve)]).toEqual([['L'], []]);
  });
});
