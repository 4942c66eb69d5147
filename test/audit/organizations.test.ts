import type { UserRecord } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { makeSession } from '../support/owned-resources.ts';
import { callAs, shareWith, toInvites } from '../support/sharing.ts';
import { adminToken } from '../support/sign-in.ts';
import { createTestApp } from '../support/test-app.ts';

interface Entry {
  readonly action: string;
  readonly actor: { readonly userId: string | null };
  readonly target: { readonly type: string; readonly id: string };
  readonly organizationId: string | null;
  readonly changes: readonly { field: string; before: unknown; after: unknown }[];
}

/** The app's user administers the workspace; Ada owns an organization. Every act has a millisecond of its own. */
async function setUp() {
  const app = await createTestApp();
  await adminToken(app);
  const [ada, grace] = [await app.addUser('countess@example.com'), await app.addUser('grace@example.com')];
  const ask = async <const Method extends string, const Path extends string>(
    who: UserRecord,
    method: Method,
    path: Path,
    body?: object,
  ) => {
    await app.clock.advance(1);
    return callAs(app, who, method, path, body);
  };
  const made = await ask(ada, 'POST', '/api/organizations', { name: 'Engines', description: 'We compute.' });
  const id: string = made.body._id;
  const read = async (who = ada, query = ''): Promise<readonly Entry[]> =>
    (await ask(who, 'GET', `/api/organizations/${id}/audit${query}`)).body.data.toReversed();
  return { app, root: app.user, ada, grace, id, ask, read };
}

const toLine = ({ action, actor, target, changes }: Entry) => [
  action,
  actor.userId,
  `${target.type} ${target.id}`,
  Object.fromEntries(changes.map(({ field, before, after }) => [field, [before, after]])),
];

describe('audit log of an organization', () => {
  it('has each act on it with the values before and after', async () => {
    const { app, root, ada, grace, id, ask, read } = await setUp();
    const path = `/api/organizations/${id}`;
    await ask(ada, 'PATCH', path, { name: 'Looms', description: null });
    await ask(ada, 'PATCH', path, { name: 'Looms' });
    await app.clock.advance(1);
    await shareWith(app, ada, `organization/${id}`, grace, 'read');
    await app.clock.advance(1);
    await shareWith(app, ada, `organization/${id}`, grace, 'write');
    await ask(ada, 'POST', `${path}/transfer`, { userId: grace.id });
    await ask(grace, 'POST', `/api/organization/${id}/revokeSharing`, { userId: ada.id });
    await ask(grace, 'DELETE', path);
    const about = `organization ${id}`;
    const lines = (await read(root))
      .map(toLine)
      .filter(([action]) => action !== 'organization.member_invited');
    expect(lines).toEqual([
      [
        'organization.created',
        ada.id,
        about,
        {
          name: [null, 'Engines'],
          description: [null, 'We compute.'],
          subscriptionTier: [null, 'free'],
          subscriptionStatus: [null, 'trial'],
        },
      ],
      [
        'organization.updated',
        ada.id,
        about,
        { name: ['Engines', 'Looms'], description: ['We compute.', null] },
      ],
      ['organization.member_added', grace.id, about, { userId: [null, grace.id], role: [null, 'member'] }],
      [
        'organization.member_role_changed',
        grace.id,
        about,
        { userId: [null, grace.id], role: ['member', 'administrator'] },
      ],
      ['organization.transferred', ada.id, about, { ownerId: [ada.id, grace.id] }],
      [
        'organization.member_removed',
        grace.id,
        about,
        { userId: [ada.id, null], role: ['administrator', null] },
      ],
      [
        'organization.deleted',
        grace.id,
        about,
        {
          name: ['Looms', null],
          subscriptionTier: ['free', null],
          subscriptionStatus: ['trial', null],
        },
      ],
    ]);
  });

  it('has invites that are sent and withdrawn, and none of a session', async () => {
    const { app, ada, grace, id, ask, read } = await setUp();
    const offer = { email: 'new@example.com', permission: 'write' };
    const invite = async (path: string, body: object): Promise<string> =>
      (await ask(ada, 'POST', toInvites(path), body)).body._id;
    const [sent, refused] = [
      await invite(`organization/${id}`, offer),
      await invite(`organization/${id}`, { email: grace.email }),
    ];
    await ask(grace, 'POST', `/api/invites/${refused}/refuse`);
    const accepted = await invite(`organization/${id}`, { email: grace.email });
    await ask(grace, 'POST', `/api/invites/${accepted}/accept`);
    const session = `session/${await makeSession(app, ada)}`;
    await invite(session, offer);
    for (const path of [`organization/${id}`, session]) await ask(ada, 'POST', `/api/${path}/revokeSharing`);
    const invites = (await read()).filter(({ target }) => target.type === 'invite');
    const of = (one: string, permission: string) => [
      'organization.member_invited',
      ada.id,
      `invite ${one}`,
      { permission: [null, permission] },
    ];
    expect(invites.map(toLine)).toEqual([
      of(sent, 'write'),
      of(refused, 'read'),
      of(accepted, 'read'),
      ['organization.invite_revoked', ada.id, `invite ${sent}`, {}],
    ]);
    expect(new Set(invites.map(({ organizationId }) => organizationId))).toEqual(new Set([id]));
    const all = (await ask(app.user, 'GET', '/api/audit?limit=100')).body.data as readonly Entry[];
    expect(all.filter(({ target }) => target.type === 'invite')).toHaveLength(4);
  });
});

describe('filter of the audit log', () => {
  it('chooses by actor, target, action and time, in the list and in the export', async () => {
    const { app, root, ada, grace, id, ask } = await setUp();
    const created = app.clock.now();
    await ask(ada, 'PATCH', `/api/organizations/${id}`, { name: 'Looms' });
    const changed = new Date(app.clock.now()).toISOString();
    await ask(grace, 'POST', '/api/organizations', { name: 'Others' });
    const until = new Date(created).toISOString();
    const cases: readonly (readonly [query: string, own: number, all: number])[] = [
      [`actor=${ada.id}`, 2, 2],
      [`actor=${grace.id}`, 0, 1],
      [`target=${id}`, 2, 2],
      [`target=${grace.id}`, 0, 1],
      ['action=organization.updated', 1, 1],
      [`from=${changed}`, 1, 2],
      [`to=${changed}&actor=${ada.id}`, 1, 1],
      [`from=${until}&to=${changed}`, 1, 1],
    ];
    for (const [query, own, all] of cases) {
      for (const [who, path, count] of [
        [ada, `/api/organizations/${id}/audit`, own],
        [root, '/api/audit', all],
      ] as const) {
        const { body } = await ask(who, 'GET', `${path}?limit=100&${query}`);
        expect([path, query, body.data.length]).toEqual([path, query, count]);
        const credential = await app.token(who);
        const lines = await (await app.ask('GET', `${path}/export?${query}`, { credential })).text();
        const ids = lines.split('\n').filter((line) => line !== '');
        expect(ids.map((line) => JSON.parse(line).id)).toEqual(
          body.data.map((entry: { id: string }) => entry.id).toReversed(),
        );
      }
    }
  });
});
