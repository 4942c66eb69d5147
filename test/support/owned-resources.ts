import type { UserRecord } from '@questline/core';
import {
  BUDGETS,
  getGenerations,
  PROJECTS,
  PROVIDER_KEYS,
  QUESTS,
  STORED_COMPLETIONS,
  toCompletionId,
  WEBHOOK_DELIVERIES,
  WEBHOOKS,
} from '@questline/core/internal';
import { getSignature } from '../../packages/core/src/features/budgets/rules.ts';
import { addMemento } from './mementos.ts';
import { addOrganization } from './people.ts';
import { NOW, type TestApp } from './test-app.ts';

/** Creates a resource of a user and returns its ID. */
export type Maker = (app: TestApp, owner: UserRecord) => Promise<string>;

const made =
  (path: string, body: object, field = 'id'): Maker =>
  async (app, owner) => {
    const answer = await app.ask('POST', path, { credential: await app.token(owner), body });
    if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}: ${await answer.text()}`);
    return ((await answer.json()) as Record<string, string>)[field] ?? '';
  };

export const makeSession = made('/api/v1/sessions', { name: 'Notes' });
/** Names are unique per owner. */
export const makeProject: Maker = async (app, owner) => {
  const others = await app.services.store.collection(PROJECTS).count({ ownerId: owner.id });
  const name = others === 0 ? 'Engine' : `Engine ${others + 1}`;
  return made('/api/v1/projects', { name, description: 'All about it.' })(app, owner);
};
export const makeArtifact = made('/api/v1/artifacts', { type: 'code', title: 'Loop', content: 'for (;;);' });
export const makeAgent = made('/api/v1/agents', { name: 'Muse', trigger_words: ['muse'] });

export const makeFile: Maker = async ({ services: { library } }, owner) => {
  const content = Buffer.from('12345');
  const { file } = await library.save(owner.id, { name: 'notes.txt', mimeType: 'text/plain', content });
  return file?.id ?? '';
};

const makeApiKey = made('/api/user-api-keys', { name: 'CI', scopes: ['me:read'] });

export const makeOrganization: Maker = async (app, owner) =>
  (await addOrganization(app, { ownerId: owner.id })).id;

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

/** A budget of the user, without a request that would count against its rate limit. */
const makeBudget: Maker = async ({ services: { store, ids } }, { id: userId }) => {
  const id = ids.next();
  const rule = {
    subject: `user:${userId}`,
    models: null,
    window: 'month',
    timeZone: 'UTC',
    unit: 'credits',
    action: 'refuse',
    managedBy: 'owner',
  } as const;
  await store.collection(BUDGETS).insert({
    id,
    ...rule,
    name: 'Mine',
    scope: 'user',
    scopeId: userId,
    userId,
    amount: 10_000_000,
    ownKeys: 'count',
    signature: getSignature(rule),
    createdAt: NOW,
    updatedAt: NOW,
  });
  return id;
};

export const makeWebhook: Maker = async ({ services: { store, ids, textBox } }, owner) => {
  const id = ids.next();
  await store.collection(WEBHOOKS).insert({
    id,
    owner: `user:${owner.id}`,
    organizationId: null,
    createdBy: owner.id,
    url: 'https://hooks.example.com/in',
    description: '',
    types: ['quest.done', 'credits.low'],
    status: 'active',
    sealedSecret: textBox.seal(`whsec_${'a'.repeat(43)}=`, ['webhook', id]),
    createdAt: NOW,
  });
  return id;
};

/** A failed delivery. */
export async function makeWebhookDelivery(
  app: TestApp,
  owner: UserRecord,
): Promise<{ readonly webhookId: string; readonly id: string }> {
  const { store, ids } = app.services;
  const webhookId = await makeWebhook(app, owner);
  const id = ids.next();
  const type = 'webhook.test';
  await store.collection(WEBHOOK_DELIVERIES).insert({
    id,
    webhookId,
    eventId: `evt_${id}`,
    type,
    payload: JSON.stringify({ type, timestamp: new Date(NOW).toISOString(), data: { id: webhookId } }),
    status: 'failed',
    attempts: 11,
    failures: 10,
    since: NOW,
    lastStatus: 503,
    createdAt: NOW,
  });
  return { webhookId, id };
}

const makeDataLake: Maker = async (app, owner) => {
  await app.services.adminSettings.set('EnableDataLakes', true);
  return made('/api/v1/data-lakes', { name: 'Papers' })(app, owner);
};

/** Created by the owner of a session, for a user other than the app's user. */
const makeInvite: Maker = async (app, owner) => {
  const id = await makeSession(app, owner);
  return made(`/api/session/${id}/invites`, { email: 'guest@example.com' }, '_id')(app, owner);
};

const makeMemento: Maker = async (app, owner) => {
  const id = app.services.ids.next();
  await addMemento(app, { id, ownerId: owner.id, text: 'They count.' });
  return id;
};

/** A completed quest. */
const makeQuest =
  (kind: 'chat' | 'agent-execution'): Maker =>
  async (app, owner) => {
    const sessionId = await makeSession(app, owner);
    const id = app.services.ids.next();
    const payer = { account: `user:${owner.id}`, userId: owner.id };
    const request = { message: 'Hi', model: 'scripted', maxTokens: 10, payer, requestId: '' };
    await app.services.store.collection(QUESTS).insert({
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

/** A failed generation. */
const makeGeneration =
  (kind: 'video' | 'music'): Maker =>
  async ({ services: { store, ids } }, owner) => {
    const id = ids.next();
    const input =
      kind === 'video'
        ? ({
            prompt: 'A cat',
            mode: 'text_to_video',
            durationSeconds: 8,
            aspectRatio: '16:9',
            resolution: '720p',
          } as const)
        : ({ prompt: 'A waltz', durationSeconds: 8, instrumental: false, format: 'mp3' } as const);
    await getGenerations(store).insert({
      id,
      kind,
      ownerId: owner.id,
      state: 'failed',
      source: 'api',
      model: 'director',
      input,
      provider: 'videos',
      providerModel: 'director',
      payer: { account: `user:${owner.id}`, userId: owner.id },
      requestId: '',
      reserved: 0,
      createdAt: NOW,
      updatedAt: NOW,
    });
    return id;
  };

const makeCompletion: Maker = async ({ services: { store, ids } }, { id: ownerId }) => {
  const requestId = ids.next();
  await store.collection(STORED_COMPLETIONS).insert({
    id: toCompletionId(ownerId, requestId),
    ownerId,
    requestId,
    status: 'done',
    model: 'scripted',
    text: 'Hello.',
    createdAt: NOW,
    heartbeatAt: NOW,
    expiresAt: NOW + 86_400_000,
  });
  return requestId;
};

/** Makers of a user's resources, by the path segment before the ID. */
export const MAKERS: Readonly<Record<string, Maker>> = {
  'agent-executions': makeQuest('agent-execution'),
  agent: makeAgent,
  agents: makeAgent,
  'api-keys': makeProviderKey,
  artifact: makeArtifact,
  artifacts: makeArtifact,
  completions: makeCompletion,
  'data-lakes': makeDataLake,
  budgets: makeBudget,
  chat: makeSession,
  deliveries: async (app, owner) => (await makeWebhookDelivery(app, owner)).id,
  file: makeFile,
  files: makeFile,
  invite: makeInvite,
  invites: makeInvite,
  mementos: makeMemento,
  'music-generations': makeGeneration('music'),
  organization: makeOrganization,
  organizations: makeOrganization,
  project: makeProject,
  projects: makeProject,
  quests: makeQuest('chat'),
  session: makeSession,
  sessions: makeSession,
  'user-api-keys': makeApiKey,
  'video-generations': makeGeneration('video'),
  webhooks: makeWebhook,
  users: async (_app, owner) => owner.id,
};
