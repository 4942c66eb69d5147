import { expect } from 'vitest';
import {
  type Maker,
  makeAgent,
  makeArtifact,
  makeFile,
  makeOrganization,
  makeProject,
  makeSession,
} from '../../support/owned-resources.ts';
import { NOW, type TestApp } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { badPages, faulted, onePage, refused, type WireCase } from './case.ts';

const ID = expect.stringMatching(/^[0-9a-f]{24}$/);
const AT_NOON = new Date(NOW).toISOString();
const GRACE = 'grace@example.com';

interface Kind {
  readonly name: string;
  readonly type: string;
  readonly subject: string;
  readonly make: Maker;
  readonly shown: object;
}

const KINDS: readonly Kind[] = [
  {
    type: 'project',
    name: 'Engine',
    subject: 'Project',
    make: makeProject,
    shown: {
      id: ID,
      owner_id: ID,
      name: 'Engine',
      description: 'All about it.',
      session_ids: [],
      file_ids: [],
      created_at: AT_NOON,
      updated_at: AT_NOON,
    },
  },
  {
    type: 'session',
    name: 'Notes',
    subject: 'Session',
    make: makeSession,
    shown: expect.objectContaining({ id: ID, name: 'Notes', userId: ID, knowledgeIds: [] }),
  },
  {
    type: 'file',
    name: 'notes.txt',
    subject: 'File',
    make: makeFile,
    shown: expect.objectContaining({
      id: ID,
      file_name: 'notes.txt',
      download_url: expect.stringMatching(/^\/api\/v1\/objects\?/),
    }),
  },
  {
    type: 'agent',
    name: 'Muse',
    subject: 'Agent',
    make: makeAgent,
    shown: expect.objectContaining({ id: ID, name: 'Muse', ownerId: ID, triggerWords: ['@muse'] }),
  },
  {
    type: 'artifact',
    name: 'Loop',
    subject: 'Artifact',
    make: makeArtifact,
    shown: expect.objectContaining({ id: ID, type: 'code', title: 'Loop', content: 'for (;;);' }),
  },
  {
    type: 'organization',
    name: 'Analytical Engines',
    subject: 'Organization',
    make: makeOrganization,
    shown: expect.objectContaining({ _id: ID, name: 'Analytical Engines', memberCount: 1 }),
  },
];

const ADA = { name: 'ada', email: 'ada@example.com' };

const invite = (type: string, change: object = {}): object => ({
  _id: ID,
  type,
  resourceId: ID,
  resource: { type, id: ID, name: KINDS.find((kind) => kind.type === type)?.name },
  sender: ADA,
  email: GRACE,
  permission: 'read',
  status: 'pending',
  invitedBy: ID,
  createdAt: AT_NOON,
  expiresAt: null,
  ...change,
});

const used = (count: number) => ({ 'x-ratelimit-remaining': String(1000 - count) });
const DONE = (message: string): object => ({ success: true, message });
const NOT_YOURS = refused('application', { status: 403, message: 'Only the owner may do this' });

/** Invites a user on behalf of another user. @returns the ID of the invite. */
async function offer(app: TestApp, path: string, email: string, owner = app.user): Promise<string> {
  const answer = await app.ask('POST', `${path}/invites`, {
    credential: await app.token(owner),
    body: { email },
  });
  return ((await answer.json()) as { _id: string })._id;
}

async function answerInvite(
  app: TestApp,
  id: string,
  verb: 'accept' | 'refuse',
  who = app.user,
): Promise<void> {
  await app.ask('POST', `/api/invites/${id}/${verb}`, { credential: await app.token(who) });
}

/** A request of the app's user for an own resource. */
const own =
  (
    { type, make }: Kind,
    suffix = '',
    body?: object,
    before?: (app: TestApp, path: string) => Promise<void>,
  ) =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    const path = `/api/${type}/${await make(app, app.user)}`;
    await before?.(app, path);
    return { path: `${path}${suffix}`, ...(body !== undefined && { body }) };
  };

/** A request of the app's user for a resource of another user that is shared to read. */
const shared =
  ({ type, make }: Kind, suffix = '', body?: object) =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    const owner = await app.addUser(GRACE);
    const path = `/api/${type}/${await make(app, owner)}`;
    await answerInvite(app, await offer(app, path, 'ada@example.com', owner), 'accept');
    return { path: `${path}${suffix}`, ...(body !== undefined && { body }) };
  };

const invited = (email: string) => async (app: TestApp, path: string) => {
  await offer(app, path, email);
};

function getRows(kind: Kind): Readonly<Record<string, readonly WireCase[]>> {
  const { type, subject, shown } = kind;
  // Makers that send requests consume the rate limit; these write to the store.
  const unknown = {
    title: 'answers 404 for an unknown resource',
    ...refused('application', { status: 404, message: `${subject} not found` }),
  };
  const unknownWith = (body: object): WireCase => ({ ...unknown, ask: { body } });
  return {
    [`read${subject}`]: [
      { title: 'shows the owner', ask: own(kind), status: 200, body: shown, everywhere: type === 'project' },
      {
        title: 'lists the users it is shared with',
        ask: shared(kind),
        headers: used(2),
        status: 200,
        body: type === 'organization' ? expect.objectContaining({ memberCount: 2 }) : shown,
      },
      unknown,
    ],
    [`list${subject}Invites`]: [
      {
        title: 'lists the pending invites',
        ask: own(kind, '/invites', undefined, invited(GRACE)),
        headers: used(2),
        status: 200,
        body: { invites: [invite(type)], pagination: onePage(1) },
      },
      {
        title: 'searches addresses',
        ask: own(kind, '/invites?search=eve', undefined, async (app, path) => {
          await offer(app, path, GRACE);
          await offer(app, path, 'eve@example.com');
        }),
        headers: used(3),
        status: 200,
        body: { invites: [invite(type, { email: 'eve@example.com' })], pagination: onePage(1) },
      },
      { title: 'rejects a reader', ask: shared(kind, '/invites'), headers: used(2), ...NOT_YOURS },
      unknown,
      ...badPages(`/api/${type}/${'0'.repeat(24)}/invites`),
    ],
    [`create${subject}Invite`]: [
      {
        title: 'creates an invite and ignores fields set by the server',
        ask: own(kind, '/invites', {
          email: ' Grace@Example.com',
          permission: 'write',
          expiresAt: '2026-12-24T18:00:00+01:00',
          status: 'accepted',
          invitedBy: 'f'.repeat(24),
          acceptedBy: 'f'.repeat(24),
          resourceId: 'f'.repeat(24),
          type: 'other',
          readerIds: ['f'.repeat(24)],
        }),
        status: 201,
        body: invite(type, { permission: 'write', expiresAt: '2026-12-24T17:00:00.000Z' }),
        everywhere: type === 'project',
      },
      {
        title: 'rejects a second invite while the first is pending',
        ask: own(kind, '/invites', { email: GRACE }, invited(GRACE)),
        headers: used(2),
        ...refused('application', {
          status: 409,
          message: 'The address has a pending invite to it already',
        }),
      },
      {
        title: 'rejects an invite to oneself',
        ask: own(kind, '/invites', { email: 'ada@example.com' }),
        ...faulted('email', 'this is your own address'),
      },
      {
        title: 'rejects an expiry in the past',
        ask: own(kind, '/invites', { email: GRACE, expiresAt: AT_NOON }),
        ...faulted('expiresAt', 'expected a time in the future'),
      },
      {
        title: 'rejects a missing address',
        ask: own(kind, '/invites', { email: 'grace' }),
        ...faulted('email', 'expected an e-mail address, got 5 characters of text'),
      },
      {
        title: 'rejects a reader',
        ask: shared(kind, '/invites', { email: 'eve@example.com' }),
        headers: used(2),
        ...NOT_YOURS,
      },
      unknownWith({ email: GRACE }),
    ],
    [`revoke${subject}Sharing`]: [
      {
        title: 'revokes all shares',
        ask: own(kind, '/revokeSharing', undefined, async (app, path) => {
          const grace = await app.addUser(GRACE);
          await answerInvite(app, await offer(app, path, GRACE), 'accept', grace);
        }),
        headers: used(2),
        status: 200,
        body: DONE('The share is revoked'),
        everywhere: type === 'project',
      },
      {
        title: 'answers 404 for a user it is not shared with',
        ask: own(kind, '/revokeSharing', { userId: '0'.repeat(24) }),
        ...refused('application', { status: 404, message: 'User not found' }),
      },
      {
        title: 'rejects a reader',
        ask: shared(kind, '/revokeSharing'),
        headers: used(2),
        ...NOT_YOURS,
      },
      unknown,
    ],
    [`leave${subject}`]: [
      {
        title: 'ends the share of the caller',
        ask: shared(kind, '/leave'),
        headers: used(2),
        status: 200,
        body: DONE('The share has ended'),
        everywhere: type === 'project',
      },
      {
        title: 'rejects the owner',
        ask: own(kind, '/leave'),
        ...refused('application', { status: 409, message: 'The owner cannot leave it' }),
      },
      unknown,
    ],
  };
}

const NOT_FOUND = refused('application', { status: 404, message: 'Invite not found' });

/** An invite to the app's user. */
const toMe = async (app: TestApp): Promise<string> => {
  const owner = await app.addUser(GRACE);
  return offer(app, `/api/session/${await makeSession(app, owner)}`, 'ada@example.com', owner);
};

const readInvite: readonly WireCase[] = [
  {
    title: 'shows the invite to its recipient',
    ask: async (app) => ({ path: `/api/invite/${await toMe(app)}` }),
    status: 200,
    body: invite('session', { email: 'ada@example.com', sender: { name: 'grace', email: GRACE } }),
  },
  {
    title: 'shows the invite to its sender',
    ask: async (app) => {
      const path = `/api/session/${await makeSession(app, app.user)}`;
      return { path: `/api/invite/${await offer(app, path, GRACE)}` };
    },
    headers: used(2),
    status: 200,
    body: invite('session'),
  },
  {
    title: 'answers 404 for an invite of another user',
    ask: async (app) => {
      const owner = await app.addUser('eve@example.com');
      const path = `/api/session/${await makeSession(app, owner)}`;
      return { path: `/api/invite/${await offer(app, path, GRACE, owner)}` };
    },
    ...NOT_FOUND,
  },
  { title: 'answers 404 for an unknown invite', ...NOT_FOUND },
];

const listInvites: readonly WireCase[] = [
  { title: 'lists no invites at first', status: 200, body: { invites: [], pagination: onePage(0) } },
  {
    title: 'lists only pending invites to the own address',
    ask: async (app) => {
      await toMe(app);
      const eve = await app.addUser('eve@example.com');
      for (const email of [GRACE, 'ada@example.com', 'ada@example.com']) {
        const path = `/api/project/${await createMakeProject(app, eve)}`;
        const id = await offer(app, path, email, eve);
        if (email !== GRACE) await answerInvite(app, id, 'refuse');
      }
      return {};
    },
    headers: used(3),
    status: 200,
    body: {
      invites: [invite('session', { email: 'ada@example.com', sender: { name: 'grace', email: GRACE } })],
      pagination: onePage(1),
    },
    everywhere: true,
  },
  {
    title: 'omits expired invites',
    ask: async (app) => {
      const owner = await app.addUser(GRACE);
      const path = `/api/session/${await makeSession(app, owner)}/invites`;
      const body = { email: 'ada@example.com', expiresAt: new Date(NOW + 1000).toISOString() };
      await app.ask('POST', path, { credential: await app.token(owner), body });
      await app.clock.advance(1000);
      return {};
    },
    status: 200,
    body: { invites: [], pagination: onePage(0) },
    headers: { 'x-ratelimit-reset': String((NOW + 3_601_000) / 1000) },
  },
  ...badPages('/api/invites').filter(({ title }) => !title.includes('search')),
];

/** Names are unique per owner, so each project gets its own. */
const createMakeProject: Maker = async (app, owner) => {
  const body = { name: `Engine ${app.services.ids.next()}`, description: 'All about it.' };
  const answer = await app.ask('POST', '/api/v1/projects', { credential: await app.token(owner), body });
  return ((await answer.json()) as { id: string }).id;
};

const answered = (verb: 'accept' | 'refuse', message: string, more: object = {}): readonly WireCase[] => [
  {
    title: 'answers an invite',
    ask: async (app) => ({ path: `/api/invites/${await toMe(app)}/${verb}` }),
    status: 200,
    body: { ...DONE(message), ...more },
    everywhere: true,
  },
  {
    title: 'rejects an answered invite',
    ask: async (app) => {
      const id = await toMe(app);
      await answerInvite(app, id, 'refuse');
      return { path: `/api/invites/${id}/${verb}` };
    },
    headers: used(2),
    ...refused('application', { status: 409, message: 'The invite is no longer pending' }),
  },
  {
    title: 'rejects an invite to another user, even from its sender',
    ask: async (app) => {
      const path = `/api/session/${await makeSession(app, app.user)}`;
      return { path: `/api/invites/${await offer(app, path, GRACE)}/${verb}` };
    },
    headers: used(2),
    ...NOT_FOUND,
  },
  { title: 'answers 404 for an unknown invite', ...NOT_FOUND },
];

/** The cases of sharing, for every kind of resource. */
export const SHARING: Readonly<Record<string, readonly WireCase[]>> = {
  ...Object.assign({}, ...KINDS.map(getRows)),
  readInvite,
  listInvites,
  acceptInvite: answered('accept', 'The invite is accepted', {
    resource: { type: 'session', id: ID, name: 'Notes' },
  }),
  refuseInvite: answered('refuse', 'The invite is refused'),
};
