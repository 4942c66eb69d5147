import { expect } from 'vitest';
import {
  type Maker,
  makeAgent,
  makeArtifact,
  makeFile,
  makeOrganization,
  makeProject,
  makeSession,
} from '../../support/possessions.ts';
import type { Asked } from '../../support/wire.ts';
import { NOW, type World } from '../../support/world.ts';
import { badPages, faulted, onePage, refused, type WireCase } from './case.ts';

const ID = expect.stringMatching(/^[0-9a-f]{24}$/);
const AT_NOON = new Date(NOW).toISOString();
const GRACE = 'grace@example.com';

interface Kind {
  readonly type: string;
  readonly subject: string;
  readonly make: Maker;
  readonly shown: object;
}

const KINDS: readonly Kind[] = [
  {
    type: 'project',
    subject: 'Project',
    make: makeProject,
    shown: {
      id: ID,
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
    subject: 'Session',
    make: makeSession,
    shown: expect.objectContaining({ id: ID, name: 'Notes', userId: ID, knowledgeIds: [] }),
  },
  {
    type: 'file',
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
    subject: 'Agent',
    make: makeAgent,
    shown: expect.objectContaining({ id: ID, name: 'Muse', ownerId: ID, triggerWords: ['@muse'] }),
  },
  {
    type: 'artifact',
    subject: 'Artifact',
    make: makeArtifact,
    shown: expect.objectContaining({ id: ID, type: 'code', title: 'Loop', content: 'for (;;);' }),
  },
  {
    type: 'organization',
    subject: 'Organization',
    make: makeOrganization,
    shown: expect.objectContaining({ _id: ID, name: 'Analytical Engines', memberCount: 1 }),
  },
];

const invite = (type: string, change: object = {}): object => ({
  _id: ID,
  type,
  resourceId: ID,
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
const NOT_YOURS = refused('application', { status: 403, message: 'This is for the owner to do' });

/** Somebody invites somebody. @returns the invite's id. */
async function offer(world: World, path: string, email: string, owner = world.user): Promise<string> {
  const answer = await world.ask('POST', `${path}/invites`, {
    credential: await world.token(owner),
    body: { email },
  });
  return ((await answer.json()) as { _id: string })._id;
}

async function answerInvite(
  world: World,
  id: string,
  verb: 'accept' | 'refuse',
  who = world.user,
): Promise<void> {
  await world.ask('POST', `/api/invites/${id}/${verb}`, { credential: await world.token(who) });
}

/** The world's user asks about something of their own. */
const own =
  (
    { type, make }: Kind,
    suffix = '',
    body?: object,
    before?: (world: World, path: string) => Promise<void>,
  ) =>
  async (world: World): Promise<Partial<Asked>> => {
    const path = `/api/${type}/${await make(world, world.user)}`;
    await before?.(world, path);
    return { path: `${path}${suffix}`, ...(body !== undefined && { body }) };
  };

/** The world's user asks about something of somebody else's that is shared with them to read. */
const shared =
  ({ type, make }: Kind, suffix = '', body?: object) =>
  async (world: World): Promise<Partial<Asked>> => {
    const owner = await world.addUser(GRACE);
    const path = `/api/${type}/${await make(world, owner)}`;
    await answerInvite(world, await offer(world, path, 'ada@example.com', owner), 'accept');
    return { path: `${path}${suffix}`, ...(body !== undefined && { body }) };
  };

const invited = (email: string) => async (world: World, path: string) => {
  await offer(world, path, email);
};

function rowsOf(kind: Kind): Readonly<Record<string, readonly WireCase[]>> {
  const { type, subject, shown } = kind;
  // Making one by a call takes a slot where it is counted; all of these are not.
  const unknown = {
    title: 'an unknown one',
    ...refused('application', { status: 404, message: `${subject} not found` }),
  };
  const unknownWith = (body: object): WireCase => ({ ...unknown, ask: { body } });
  return {
    [`read${subject}`]: [
      { title: 'shows its owner', ask: own(kind), status: 200, body: shown, everywhere: type === 'project' },
      {
        title: 'shows whom it is shared with',
        ask: shared(kind),
        headers: used(2),
        status: 200,
        body: type === 'organization' ? expect.objectContaining({ memberCount: 2 }) : shown,
      },
      unknown,
    ],
    [`list${subject}Invites`]: [
      {
        title: 'shows them',
        ask: own(kind, '/invites', undefined, invited(GRACE)),
        headers: used(2),
        status: 200,
        body: { invites: [invite(type)], pagination: onePage(1) },
      },
      {
        title: 'searches addresses',
        ask: own(kind, '/invites?search=eve', undefined, async (world, path) => {
          await offer(world, path, GRACE);
          await offer(world, path, 'eve@example.com');
        }),
        headers: used(3),
        status: 200,
        body: { invites: [invite(type, { email: 'eve@example.com' })], pagination: onePage(1) },
      },
      { title: 'who may read it and no more', ask: shared(kind, '/invites'), headers: used(2), ...NOT_YOURS },
      unknown,
      ...badPages(`/api/${type}/${'0'.repeat(24)}/invites`),
    ],
    [`create${subject}Invite`]: [
      {
        title: 'offers a share, and takes nothing a server decides',
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
        title: 'a second one while the first is pending',
        ask: own(kind, '/invites', { email: GRACE }, invited(GRACE)),
        headers: used(2),
        ...refused('application', {
          status: 409,
          message: 'The address has a pending invite to it already',
        }),
      },
      {
        title: 'to oneself',
        ask: own(kind, '/invites', { email: 'ada@example.com' }),
        ...faulted('email', 'this is your own address'),
      },
      {
        title: 'until a time that is past',
        ask: own(kind, '/invites', { email: GRACE, expiresAt: AT_NOON }),
        ...faulted('expiresAt', 'expected a time in the future'),
      },
      {
        title: 'to no address',
        ask: own(kind, '/invites', { email: 'grace' }),
        ...faulted('email', 'expected an e-mail address, got 5 characters of text'),
      },
      {
        title: 'who may read it and no more',
        ask: shared(kind, '/invites', { email: 'eve@example.com' }),
        headers: used(2),
        ...NOT_YOURS,
      },
      unknownWith({ email: GRACE }),
    ],
    [`revoke${subject}Sharing`]: [
      {
        title: 'shuts everybody out',
        ask: own(kind, '/revokeSharing', undefined, async (world, path) => {
          const grace = await world.addUser(GRACE);
          await answerInvite(world, await offer(world, path, GRACE), 'accept', grace);
        }),
        headers: used(2),
        status: 200,
        body: DONE('It is shared no more'),
        everywhere: type === 'project',
      },
      {
        title: 'a user it is not shared with',
        ask: own(kind, '/revokeSharing', { userId: '0'.repeat(24) }),
        ...refused('application', { status: 404, message: 'User not found' }),
      },
      {
        title: 'who may read it and no more',
        ask: shared(kind, '/revokeSharing'),
        headers: used(2),
        ...NOT_YOURS,
      },
      unknown,
    ],
  };
}

const NOT_FOUND = refused('application', { status: 404, message: 'Invite not found' });

/** An invite to the world's user. */
const toMe = async (world: World): Promise<string> => {
  const owner = await world.addUser(GRACE);
  return offer(world, `/api/session/${await makeSession(world, owner)}`, 'ada@example.com', owner);
};

const readInvite: readonly WireCase[] = [
  {
    title: 'shows whom it is for',
    ask: async (world) => ({ path: `/api/invite/${await toMe(world)}` }),
    status: 200,
    body: invite('session', { email: 'ada@example.com' }),
  },
  {
    title: 'shows who made it',
    ask: async (world) => {
      const path = `/api/session/${await makeSession(world, world.user)}`;
      return { path: `/api/invite/${await offer(world, path, GRACE)}` };
    },
    headers: used(2),
    status: 200,
    body: invite('session'),
  },
  {
    title: "somebody else's",
    ask: async (world) => {
      const owner = await world.addUser('eve@example.com');
      const path = `/api/session/${await makeSession(world, owner)}`;
      return { path: `/api/invite/${await offer(world, path, GRACE, owner)}` };
    },
    ...NOT_FOUND,
  },
  { title: 'an unknown one', ...NOT_FOUND },
];

const listInvites: readonly WireCase[] = [
  { title: 'is empty at first', status: 200, body: { invites: [], pagination: onePage(0) } },
  {
    title: 'shows pending ones to the own address, and no others',
    ask: async (world) => {
      await toMe(world);
      const eve = await world.addUser('eve@example.com');
      for (const email of [GRACE, 'ada@example.com', 'ada@example.com']) {
        const path = `/api/project/${await makeProjectOf(world, eve)}`;
        const id = await offer(world, path, email, eve);
        if (email !== GRACE) await answerInvite(world, id, 'refuse');
      }
      return {};
    },
    headers: used(3),
    status: 200,
    body: { invites: [invite('session', { email: 'ada@example.com' })], pagination: onePage(1) },
    everywhere: true,
  },
  {
    title: 'shows none that has expired',
    ask: async (world) => {
      const owner = await world.addUser(GRACE);
      const path = `/api/session/${await makeSession(world, owner)}/invites`;
      const body = { email: 'ada@example.com', expiresAt: new Date(NOW + 1000).toISOString() };
      await world.ask('POST', path, { credential: await world.token(owner), body });
      await world.clock.advance(1000);
      return {};
    },
    status: 200,
    body: { invites: [], pagination: onePage(0) },
    headers: { 'x-ratelimit-reset': String((NOW + 3_601_000) / 1000) },
  },
  ...badPages('/api/invites').filter(({ title }) => !title.includes('search')),
];

/** Several of one owner want names of their own. */
const makeProjectOf: Maker = async (world, owner) => {
  const body = { name: `Engine ${world.services.ids.next()}`, description: 'All about it.' };
  const answer = await world.ask('POST', '/api/v1/projects', { credential: await world.token(owner), body });
  return ((await answer.json()) as { id: string }).id;
};

const answered = (verb: 'accept' | 'refuse', message: string): readonly WireCase[] => [
  {
    title: 'is done',
    ask: async (world) => ({ path: `/api/invites/${await toMe(world)}/${verb}` }),
    status: 200,
    body: DONE(message),
    everywhere: true,
  },
  {
    title: 'one that was answered',
    ask: async (world) => {
      const id = await toMe(world);
      await answerInvite(world, id, 'refuse');
      return { path: `/api/invites/${id}/${verb}` };
    },
    headers: used(2),
    ...refused('application', { status: 409, message: 'The invite is no longer pending' }),
  },
  {
    title: 'one to somebody else, even by who made it',
    ask: async (world) => {
      const path = `/api/session/${await makeSession(world, world.user)}`;
      return { path: `/api/invites/${await offer(world, path, GRACE)}/${verb}` };
    },
    headers: used(2),
    ...NOT_FOUND,
  },
  { title: 'an unknown one', ...NOT_FOUND },
];

/** All of sharing, for every kind of thing. */
export const SHARING: Readonly<Record<string, readonly WireCase[]>> = {
  ...Object.assign({}, ...KINDS.map(rowsOf)),
  readInvite,
  listInvites,
  acceptInvite: answered('accept', 'The invite is accepted'),
  refuseInvite: answered('refuse', 'The invite is refused'),
};
