import { COLLECTIONS, createDemoProvider, type UserRecord } from '@questline/core';
import { createSqlPorts } from '@questline/sql';
import { describe, expect, it } from 'vitest';
import { SQLITE_MEMORY } from '../../packages/sql/test/engines.ts';
import { shareDatabase } from '../../packages/sql/test/shared.ts';
import { sayAtOnce } from '../support/chat.ts';
import { createScriptedProvider } from '../support/model.ts';
import { MAKERS } from '../support/owned-resources.ts';
import { addOrganization } from '../support/people.ts';
import { shareShards } from '../support/shards.ts';
import { callAs } from '../support/sharing.ts';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/test-app.ts';
import { type Effect, readEffect } from './effects.ts';
import { SHARERS } from './shared-records.ts';

/*
 * Requests that follow each other, of a user and another one on another shard whose records are shared. Each journey is made
 * once on one database and once on two shards.
 */

/** The users of a journey, who send requests. */
interface Journey {
  readonly app: TestApp;
  readonly caller: UserRecord;
  readonly other: UserRecord;
  /** The answers are successful. @returns the body. */
  send(who: UserRecord, method: string, path: string, body?: object): Promise<Record<string, string>>;
  /** An own record of the user. */
  own(noun: string): Promise<string>;
  /** A record of the other user that the user may change. */
  shared(noun: string): Promise<string>;
}

type Walk = (journey: Journey) => Promise<void>;

const inProject =
  (noun: 'sessions' | 'files', project: 'own' | 'shared', member: 'own' | 'shared'): Walk =>
  async (journey) => {
    const projectId = await journey[project]('projects');
    const path = `/api/v1/projects/${projectId}/${noun}/${await journey[member](noun)}`;
    await journey.send(journey.caller, 'POST', path);
    await journey.send(journey.caller, 'DELETE', path);
  };

const deletedWhileShared =
  (noun: string, kind: string): Walk =>
  async ({ shared, send, caller, other }) => {
    const id = await shared(noun);
    await send(caller, 'GET', `/api/v1/${noun}/${id}`);
    await send(other, 'DELETE', `/api/v1/${noun}/${id}`);
    await send(other, 'GET', `/api/v1/${kind}`);
  };

const JOURNEYS: Readonly<Record<string, Walk>> = {
  'an own session in a shared project': inProject('sessions', 'shared', 'own'),
  'a shared session in an own project': inProject('sessions', 'own', 'shared'),
  'a shared session in a shared project': inProject('sessions', 'shared', 'shared'),
  'an own file in a shared project': inProject('files', 'shared', 'own'),
  'a shared file in an own project': inProject('files', 'own', 'shared'),
  'a deleted project that is shared': deletedWhileShared('projects', 'projects'),
  'a deleted artifact that is shared': deletedWhileShared('artifacts', 'artifacts'),
  'a deleted file that is shared': deletedWhileShared('files', 'files'),

  'an own agent in a shared session': async ({ own, shared, send, caller, other }) => {
    const path = `/api/sessions/${await shared('sessions')}/agents`;
    const agentId = await own('agents');
    await send(caller, 'POST', path, { agentId });
    await send(caller, 'GET', path);
    await send(caller, 'DELETE', `/api/v1/agents/${agentId}`);
    await send(other, 'GET', path);
  },

  'turns of both users in a shared session': async ({ app, own, shared, send, caller, other }) => {
    const sessionId = await shared('sessions');
    const fileIds = [await own('files')];
    for (const [who, more] of [
      [caller, { fileIds }],
      [other, {}],
      [caller, { enableMementos: true, enableArtifacts: true }],
    ] as const) {
      await send(who, 'POST', '/api/chat', { sessionId, message: 'Hi', wait: false, ...more });
      await app.api.start();
      for (let turns = 0; turns < 20; turns += 1) await app.settle();
    }
    await send(caller, 'GET', `/api/sessions/${sessionId}`);
    await send(other, 'DELETE', `/api/sessions/${sessionId}`);
  },

  'an artifact in a shared session that is deleted': async ({ shared, send, caller, other }) => {
    const session_id = await shared('sessions');
    const body = { type: 'code', title: 'Loop', content: 'for (;;);', session_id };
    const { id } = await send(caller, 'POST', '/api/v1/artifacts', body);
    await send(other, 'GET', `/api/sessions/${session_id}`);
    await send(other, 'DELETE', `/api/sessions/${session_id}`);
    await send(caller, 'GET', `/api/v1/artifacts/${id}`);
  },

  'an own file in a lake of an organization': async ({ own, shared, send, caller, other }) => {
    const lake = `/api/v1/data-lakes/${await shared('data-lakes')}`;
    const fileId = await own('files');
    await send(caller, 'POST', `${lake}/files/${fileId}`);
    await send(other, 'GET', `${lake}/files`);
    await send(other, 'DELETE', `${lake}/files/${fileId}`);
    await send(caller, 'POST', `${lake}/files/${fileId}`);
    await send(caller, 'DELETE', `/api/v1/files/${fileId}`);
    await send(other, 'DELETE', lake);
  },

  'an organization that passes to another user': async ({ app, send, caller, other }) => {
    const { id } = await addOrganization(app, { ownerId: other.id, writerIds: [caller.id] });
    await send(other, 'POST', `/api/organizations/${id}/transfer`, { userId: caller.id });
    await send(caller, 'POST', `/api/organization/${id}/invites`, { email: 'third@example.com' });
    await app.addUser('third@example.com');
    await send(other, 'POST', `/api/organization/${id}/leave`, {});
    await send(caller, 'DELETE', `/api/organizations/${id}`);
  },

  'a share that ends': async ({ shared, send, caller, other }) => {
    const [project, session] = [await shared('project'), await shared('session')];
    await send(caller, 'POST', `/api/project/${project}/leave`, {});
    await send(other, 'POST', `/api/session/${session}/revokeSharing`, { userId: caller.id });
    await send(caller, 'GET', '/api/v1/projects?shared=true');
  },

  'an invite that is refused': async ({ shared, send, caller, other }) => {
    const id = await shared('invites');
    await send(caller, 'GET', '/api/invites');
    await send(caller, 'POST', `/api/invites/${id}/refuse`);
    await send(other, 'GET', '/api/invites');
  },
};

async function walk(title: string, options: TestAppOptions): Promise<Effect> {
  const app = await createTestApp({
    models: [createScriptedProvider(sayAtOnce('Hello.')), createDemoProvider()],
    settings: { admin: { DefaultAPIModel: 'scripted', EnableDataLakes: true } },
    ...options,
  });
  const other = await app.addUser('other@example.com');
  await app.ledger.grant({ account: `user:${other.id}`, amount: 1e9, key: 'start', reason: 'start' });
  const statuses: number[] = [];
  await JOURNEYS[title]?.({
    app,
    caller: app.user,
    other,
    async send(who, method, path, body) {
      const answer = await callAs(app, who, method, path, body);
      statuses.push(answer.status);
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
      return answer.body as Record<string, string>;
    },
    own: async (noun) => (await MAKERS[noun]?.(app, app.user)) ?? '',
    shared: async (noun) => (await SHARERS[noun]?.(app, other)) ?? '',
  });
  return readEffect(app, [app.user, other], statuses);
}

describe('users of two shards', () => {
  const database = shareDatabase(SQLITE_MEMORY, COLLECTIONS);
  const shards = shareShards();

  it.each(Object.keys(JOURNEYS))('have the effects of one database: %s', async (title) => {
    const one = await database.fresh();
    const expected = await walk(title, { ports: (given) => createSqlPorts(one, given) });
    expect(expected.incidents).toEqual([]);
    expect(await walk(title, { ports: await shards.fresh() })).toEqual(expected);
  });
});
