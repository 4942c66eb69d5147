import type { UserRecord } from '@questline/core';
import { QUESTS } from '@questline/core/internal';
import { MAKERS, type Maker } from '../support/owned-resources.ts';
import { addOrganization } from '../support/people.ts';
import { shareWith } from '../support/sharing.ts';
import type { TestApp } from '../support/test-app.ts';

/** Shares a record of another user with the app's user, who may change it. */
async function share(app: TestApp, owner: UserRecord, resource: string): Promise<void> {
  const accepted = await shareWith(app, owner, resource, app.user, 'write');
  if (accepted.status !== 200) throw new Error(`sharing ${resource} was answered with ${accepted.status}`);
}

const sharing =
  (kind: string): Maker =>
  async (app, owner) => {
    const id = (await MAKERS[kind]?.(app, owner)) ?? '';
    await share(app, owner, `${kind}/${id}`);
    return id;
  };

/** A quest in a shared session. */
const quest =
  (kind: 'quests' | 'agent-executions'): Maker =>
  async (app, owner) => {
    const id = (await MAKERS[kind]?.(app, owner)) ?? '';
    const found = await app.services.store.collection(QUESTS).get(id);
    await share(app, owner, `session/${found?.sessionId}`);
    return id;
  };

/** A lake of an organization that the app's user administers. */
const lake: Maker = async (app, owner) => {
  await app.services.adminSettings.set('EnableDataLakes', true);
  const organization = await addOrganization(app, { ownerId: owner.id, writerIds: [app.user.id] });
  const answer = await app.ask('POST', '/api/v1/data-lakes', {
    credential: await app.token(owner),
    body: { name: 'Papers', organization_id: organization.id },
  });
  return ((await answer.json()) as { id: string }).id;
};

/** An organization that can pay, and that the app's user administers. */
const organization: Maker = async (app, owner) => {
  const { id } = await addOrganization(app, { ownerId: owner.id, writerIds: [app.user.id] });
  await app.ledger.grant({ account: `organization:${id}`, amount: 1e9, key: id, reason: 'start' });
  return id;
};

/** An invite of the app's user to a session of another user. */
const invite: Maker = async (app, owner) => {
  const id = await MAKERS.session?.(app, owner);
  const answer = await app.ask('POST', `/api/session/${id}/invites`, {
    credential: await app.token(owner),
    body: { email: app.user.email },
  });
  return ((await answer.json()) as { _id: string })._id;
};

/** Makers of records of another user that the app's user may change, by the path segment before the id. */
export const SHARERS: Readonly<Record<string, Maker>> = {
  agent: sharing('agent'),
  agents: sharing('agent'),
  'agent-executions': quest('agent-executions'),
  artifact: sharing('artifact'),
  artifacts: sharing('artifact'),
  chat: sharing('session'),
  'data-lakes': lake,
  file: sharing('file'),
  files: sharing('file'),
  invite,
  invites: invite,
  organization,
  organizations: organization,
  project: sharing('project'),
  projects: sharing('project'),
  quests: quest('quests'),
  session: sharing('session'),
  sessions: sharing('session'),
  users: async (_app, owner) => owner.id,
};
