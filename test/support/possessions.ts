import { GENERATIONS, PROVIDER_KEYS, QUESTS, type UserRecord } from '@questline/core';
import { addMemento } from './mementos.ts';
import { addOrganization } from './people.ts';
import { NOW, type World } from './world.ts';

/** Makes something of somebody's, and answers its id. */
export type Maker = (world: World, owner: UserRecord) => Promise<string>;

const made =
  (path: string, body: object, field = 'id'): Maker =>
  async (world, owner) => {
    const answer = await world.ask('POST', path, { credential: await world.token(owner), body });
    if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}: ${await answer.text()}`);
    return ((await answer.json()) as Record<string, string>)[field] ?? '';
  };

export const makeSession = made('/api/v1/sessions', { name: 'Notes' });
export const makeProject = made('/api/v1/projects', { name: 'Engine', description: 'All about it.' });
export const makeArtifact = made('/api/v1/artifacts', { type: 'code', title: 'Loop', content: 'for (;;);' });
export const makeAgent = made('/api/v1/agents', { name: 'Muse', trigger_words: ['muse'] });

export const makeFile: Maker = async ({ services: { library } }, owner) => {
  const content = Buffer.from('12345');
  const { file } = await library.save(owner.id, { name: 'notes.txt', mimeType: 'text/plain', content });
  return file?.id ?? '';
};

const makeApiKey = made('/api/user-api-keys', { name: 'CI', scopes: ['me:read'] });

export const makeOrganization: Maker = async (world, owner) =>
  (await addOrganization(world, { ownerId: owner.id })).id;

export const makeProviderKey: Maker = async ({ services: { store, ids } }, owner) => {
  const id = ids.next();
  await store.collection(PROVIDER_KEYS).insert({
    id,
    userId: owner.id,
    name: 'Mine',
    service: 'openai',
    sealed: 'v1.none',
    keyPreview: 'wxyz',
    isActive: false,
    lastUsedAt: null,
    createdAt: NOW,
  });
  return id;
};

const makeDataLake: Maker = async (world, owner) => {
  await world.services.switches.set('EnableDataLakes', true);
  return made('/api/v1/data-lakes', { name: 'Papers' })(world, owner);
};

/** Made by the owner of a session, for somebody who is not the world's user. */
const makeInvite: Maker = async (world, owner) => {
  const id = await makeSession(world, owner);
  return made(`/api/session/${id}/invites`, { email: 'guest@example.com' }, '_id')(world, owner);
};

const makeMemento: Maker = async (world, owner) => {
  const id = world.services.ids.next();
  await addMemento(world, { id, ownerId: owner.id, text: 'They count.' });
  return id;
};

/** One that is done already. */
const makeQuest =
  (kind: 'chat' | 'agent-execution'): Maker =>
  async (world, owner) => {
    const sessionId = await makeSession(world, owner);
    const id = world.services.ids.next();
    const payer = { account: `user:${owner.id}`, userId: owner.id };
    const request = { message: 'Hi', model: 'scripted', maxTokens: 10, payer, requestId: '' };
    await world.services.store.collection(QUESTS).insert({
      id,
      kind,
      sessionId,
      ownerId: owner.id,
      status: 'done',
      type: 'message',
      text: 'Hello.',
      request,
      createdAt: NOW,
      updatedAt: NOW,
    });
    return id;
  };

/** One that has failed already. */
const makeGeneration =
  (kind: 'video' | 'music'): Maker =>
  async ({ services: { store, ids } }, owner) => {
    const id = ids.next();
    const wish =
      kind === 'video'
        ? ({
            prompt: 'A cat',
            mode: 'text_to_video',
            durationSeconds: 8,
            aspectRatio: '16:9',
            resolution: '720p',
          } as const)
        : ({ prompt: 'A waltz', durationSeconds: 8, instrumental: false, format: 'mp3' } as const);
    await store.collection(GENERATIONS).insert({
      id,
      kind,
      ownerId: owner.id,
      state: 'failed',
      source: 'api',
      model: 'director',
      wish,
      provider: 'films',
      providerModel: 'director',
      payer: { account: `user:${owner.id}`, userId: owner.id },
      requestId: '',
      reserved: 0,
      createdAt: NOW,
      updatedAt: NOW,
    });
    return id;
  };

/** How to make something of somebody's, by the word that stands before its id in a path. */
export const MAKERS: Readonly<Record<string, Maker>> = {
  'agent-executions': makeQuest('agent-execution'),
  agent: makeAgent,
  agents: makeAgent,
  'api-keys': makeProviderKey,
  artifact: makeArtifact,
  artifacts: makeArtifact,
  'data-lakes': makeDataLake,
  file: makeFile,
  files: makeFile,
  invite: makeInvite,
  invites: makeInvite,
  mementos: makeMemento,
  'music-generations': makeGeneration('music'),
  organization: makeOrganization,
  project: makeProject,
  projects: makeProject,
  quests: makeQuest('chat'),
  session: makeSession,
  sessions: makeSession,
  'user-api-keys': makeApiKey,
  'video-generations': makeGeneration('video'),
  users: async (_world, owner) => owner.id,
};
