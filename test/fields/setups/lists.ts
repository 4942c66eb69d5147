import { MEMENTOS, WEBHOOK_DELIVERIES, WEBHOOKS } from '@questline/core/internal';
import { addAgent } from '../../support/agents.ts';
import { addToLake, makeLake, saveFile, withLakes } from '../../support/lakes.ts';
import { addMemento } from '../../support/mementos.ts';
import {
  MAKERS,
  type Maker,
  makeAgent,
  makeArtifact,
  makeFile,
  makeOrganization,
  makeProject,
  makeSession,
  makeWebhook,
  makeWebhookDelivery,
} from '../../support/owned-resources.ts';
import { addOrganization, asAdmin } from '../../support/people.ts';
import { adminToken } from '../../support/sign-in.ts';
import type { TestApp } from '../../support/test-app.ts';
import type { Setup } from '../outcome.ts';
import { createZoe, send } from '../things.ts';
import { derive } from './derive.ts';

/** Two entries, a second apart. */
const two =
  (make: Maker) =>
  async (app: TestApp): Promise<object> => {
    await make(app, app.user);
    await app.clock.advance(1000);
    await make(app, app.user);
    return {};
  };
const listOf = (make: Maker): readonly Setup[] => [{ ask: two(make) }];

const invites = (type: string, make: Maker): readonly Setup[] => [
  {
    ask: async (app) => {
      const path = `/api/${type}/${await make(app, app.user)}/invites`;
      for (const name of ['grace', 'zebra']) {
        await send(app, 'POST', path, { email: `${name}@example.com` });
        await app.clock.advance(1000);
      }
      return { path };
    },
  },
];

const generations = (id: string, path: string, body: object): Setup =>
  derive(id, {}, async (asked, app) => {
    const { key } = await app.issue({ scopes: ['ai:generate'] });
    await app.ask('POST', path, { body, credential: key });
    return asked;
  });

/** Two audited changes of the organization. */
const audited =
  (path: (id: string) => string) =>
  async (app: TestApp): Promise<object> => {
    const headers = { Authorization: `Bearer ${await adminToken(app)}` };
    const id = await makeOrganization(app, app.user);
    for (const name of ['One', 'Two']) {
      await send(app, 'PATCH', `/api/organizations/${id}`, { name });
      await app.clock.advance(1000);
    }
    return { path: path(id), headers };
  };

const budgets: readonly Setup[] = ['', '?scope=user'].map((query) => ({
  ask: async (app) => {
    const headers = { Authorization: `Bearer ${await adminToken(app)}` };
    const other = await app.addUser('bob@example.com');
    const id = (await MAKERS['user-api-keys']?.(app, app.user)) ?? '';
    const rule = { window: 'month', limit: { unit: 'credits', amount: 10 } };
    const scopes = [
      { scope: 'user', name: 'Mine' },
      { scope: 'key', scopeId: id, name: 'Key' },
      { scope: 'user', scopeId: other.id, name: 'Of another' },
    ];
    for (const scope of scopes) {
      await send(app, 'POST', '/api/budgets', { ...scope, ...rule });
      await app.clock.advance(1000);
    }
    return { path: `/api/budgets${query}`, headers };
  },
}));

const paid = (path: (id: string) => string): Setup => ({
  ask: async (app) => {
    const headers = { Authorization: `Bearer ${await adminToken(app)}` };
    const { id } = await addOrganization(app);
    for (const account of [app.account, `organization:${id}`])
      for (const key of ['one', 'two'])
        await app.ledger.grant({ account, amount: 5e6, key: `${account} ${key}`, reason: key });
    return { path: path(id), headers };
  },
});

/** States with several entries, by operation. */
export const LISTS: Readonly<Record<string, readonly Setup[]>> = {
  listSessions: listOf(makeSession),
  listFiles: listOf(makeFile),
  listAgents: listOf(makeAgent),
  listArtifacts: listOf(makeArtifact),
  listProjects: listOf(makeProject),
  listMementos: [
    {
      ask: async (app) => {
        const [first, second] = ['1'.repeat(24), '2'.repeat(24)];
        await addMemento(app, { id: first, text: 'Bees.' });
        await app.clock.advance(1000);
        await addMemento(app, { id: second, text: 'Short.' });
        await app.services.store
          .collection(MEMENTOS)
          .update(first, { updatedAt: app.services.clock.now() + 1000 });
        return {};
      },
    },
  ],
  listDataLakes: [
    { app: withLakes, ask: two(async (app) => makeLake(app, { name: app.services.ids.next() })) },
  ],
  listDataLakeFiles: [
    {
      app: withLakes,
      ask: async (app) => {
        const id = await makeLake(app);
        for (const name of ['a.txt', 'b.txt']) await addToLake(app, id, await saveFile(app, name, { name }));
        return { path: `/api/v1/data-lakes/${id}/files` };
      },
    },
  ],
  listArtifactVersions: [
    {
      ask: async (app) => {
        const path = `/api/v1/artifacts/${await makeArtifact(app, app.user)}`;
        await send(app, 'PATCH', path, { content: 'while (true);' });
        return { path: `${path}/versions` };
      },
    },
  ],
  listVideoGenerations: [
    generations('listVideoGenerations', '/api/v1/video-generations', { model: 'director', prompt: 'Again' }),
  ],
  listMusicGenerations: [
    generations('listMusicGenerations', '/api/v1/music-generations', { model: 'composer', prompt: 'Again' }),
  ],
  listApiKeys: [
    {
      ask: async (app) => {
        const ids: string[] = [];
        for (const name of ['Nightly', 'Daily']) {
          await app.clock.advance(1000);
          ids.push((await app.issue({ name })).record.id);
        }
        await send(app, 'POST', `/api/user-api-keys/${ids[0]}/revoke`, {});
        return {};
      },
    },
  ],
  listOrganizations: [
    {
      ask: async (app) => {
        for (const name of ['Zebras', 'Apes']) {
          await send(app, 'POST', '/api/organizations', { name });
          await app.clock.advance(1000);
        }
        return {};
      },
    },
  ],
  listRegistrationInvites: [
    {
      ask: async (app) => {
        const asked = await asAdmin()(app);
        for (const multiple of [1, 1]) {
          await send(app, 'POST', '/api/reg-invites/create', { multiple });
          await app.clock.advance(1000);
        }
        return asked;
      },
    },
  ],
  listAgentSubmissions: [
    {
      ask: async (app) => {
        for (const name of ['Ada', 'Grace']) {
          await addAgent(app, { id: app.services.ids.next(), name, isPublic: true, publication: undefined });
          await app.clock.advance(1000);
        }
        return asAdmin()(app);
      },
    },
  ],
  listApplicationAgents: [
    {
      ask: async (app) => {
        await createZoe(app);
        await app.clock.advance(1000);
        const first = app.services.ids.next();
        await addAgent(app, { id: first, name: 'Ada', isPublic: true });
        const bob = await app.addUser('bob@example.com');
        await addAgent(app, { id: app.services.ids.next(), name: 'Bea', ownerId: bob.id, isPublic: true });
        await addAgent(app, {
          id: app.services.ids.next(),
          name: 'Cleo',
          ownerId: bob.id,
          readerIds: [app.user.id],
          updatedAt: app.services.clock.now() + 5000,
        });
        return {};
      },
    },
  ],
  listWebhooks: listOf(async (app, owner) => {
    const id = await makeWebhook(app, owner);
    await app.services.store.collection(WEBHOOKS).update(id, { createdAt: app.services.clock.now() });
    return id;
  }),
  listWebhookDeliveries: [
    {
      ask: async (app) => {
        const first = await makeWebhookDelivery(app, app.user);
        const second = await makeWebhookDelivery(app, app.user);
        await app.services.store
          .collection(WEBHOOK_DELIVERIES)
          .update(second.id, { webhookId: first.webhookId, createdAt: app.services.clock.now() + 1 });
        return { path: `/api/webhooks/${first.webhookId}/deliveries` };
      },
    },
  ],
  listAuditEntries: [{ ask: audited(() => '/api/audit') }],
  listOrganizationAuditEntries: [{ ask: audited((id) => `/api/organizations/${id}/audit`) }],
  exportAuditEntries: [{ ask: audited(() => '/api/audit/export') }],
  exportOrganizationAuditEntries: [{ ask: audited((id) => `/api/organizations/${id}/audit/export`) }],
  listBudgets: budgets,
  exportCredits: [paid(() => '/api/credits/export')],
  exportOrganizationCredits: [paid((id) => `/api/organizations/${id}/credits/export`)],
  exportWorkspaceCredits: [paid(() => '/api/ledger/export')],
  listProjectInvites: invites('project', makeProject),
  listSessionInvites: invites('session', makeSession),
  listFileInvites: invites('file', makeFile),
  listAgentInvites: invites('agent', makeAgent),
  listArtifactInvites: invites('artifact', makeArtifact),
  listOrganizationInvites: invites('organization', makeOrganization),
};
