import { createDemoProvider, USERS } from '@questline/core';
import { callOnce } from '../../support/approvals.ts';
import { type Codes, decide, initiate, poll } from '../../support/device-login.ts';
import { makeLake, withLakes } from '../../support/lakes.ts';
import {
  MAKERS,
  type Maker,
  makeAgent,
  makeArtifact,
  makeFile,
  makeOrganization,
  makeProject,
  makeSession,
} from '../../support/owned-resources.ts';
import { addOrganization } from '../../support/people.ts';
import { adminToken } from '../../support/sign-in.ts';
import type { TestApp } from '../../support/test-app.ts';
import type { Setup } from '../outcome.ts';
import { charge, chatIn, send } from '../things.ts';
import { derive, withBody } from './derive.ts';
import { chatModels } from './models.ts';

const DAY_MS = 86_400_000;

const idOf = (text: string): string => /"id":"([0-9a-f]{24})"/.exec(text)?.[1] ?? '';

const chatInNew = (app: TestApp, { text }: { readonly text: string }): Promise<void> =>
  chatIn(app, idOf(text));

/** A session whose settings a turn uses, with a model that says a word or calls tools on and on. */
const used = (id: string): readonly Setup[] => [
  ...[undefined, callOnce(), callOnce('dice_roll', { sides: 6 })].map((onCall) => ({
    ...derive(id, {}),
    app: chatModels(onCall),
    afterwards: chatInNew,
  })),
  {
    ...withBody(id, { forceKnowledgeRetrieval: true }),
    app: () => {
      const { models = [], ...options } = chatModels()();
      return { ...options, models: [...models, createDemoProvider()] };
    },
    afterwards: chatInNew,
  },
];

/** A resource that is shared with two users. */
const shared = (type: string, make: Maker): readonly Setup[] => [
  {
    ask: async (app) => {
      const path = `/api/${type}/${await make(app, app.user)}`;
      for (const name of ['grace', 'eve']) {
        const guest = await app.addUser(`${name}@example.com`);
        const { _id } = await send(app, 'POST', `${path}/invites`, { email: guest.email });
        await app.ask('POST', `/api/invites/${_id}/accept`, { credential: await app.token(guest) });
      }
      return { path: `${path}/revokeSharing`, body: {} };
    },
    afterwards: async (app) => {
      const [eve] = await app.services.store
        .collection(USERS)
        .find({ email: 'eve@example.com' }, { limit: 1 });
      const paths = ['/api/v1/sessions', '/api/v1/files', '/api/v1/agents', '/api/v1/artifacts'];
      const read = [...paths, '/api/v1/projects', '/api/organizations', '/api/invites'];
      const answers: string[] = [];
      for (const path of read) {
        const credential = await app.token(eve);
        answers.push(await (await app.ask('GET', `${path}?shared=true`, { credential })).text());
      }
      return answers;
    },
  },
];

/** A charge of yesterday and one of today. */
const charged = (path: (id: string) => string): Setup => ({
  ask: async (app) => {
    const headers = { Authorization: `Bearer ${await adminToken(app)}` };
    const { id } = await addOrganization(app);
    for (let day = 0; day < 3; day += 1) {
      for (const account of [app.account, `organization:${id}`])
        await charge(app, account, `${account} ${day}`);
      await app.clock.advance(DAY_MS);
    }
    return { path: path(id), headers };
  },
});

const BUDGET = { scope: 'user', name: 'Mine', window: 'month', limit: { unit: 'credits', amount: 10 } };
const makeKey = async (app: TestApp): Promise<string> =>
  (await MAKERS['user-api-keys']?.(app, app.user)) ?? '';
const asAdministrator = async (app: TestApp) => ({
  headers: { Authorization: `Bearer ${await adminToken(app)}` },
});

/** The logins that were started in an app. */
const codesOf = new WeakMap<TestApp, Codes>();

/** Operations without a model, in states that the wire cases do not have. */
export const REST: Readonly<Record<string, readonly Setup[]>> = {
  createSession: used('createSession'),
  createApplicationSession: used('createApplicationSession'),
  updateSession: used('updateSession'),
  getReference: [{ app: () => ({ settings: { docsBundle: async () => 'bundle' } }) }],
  searchSessions: [
    {
      app: () => ({ models: [createDemoProvider()] }),
      ask: async (app) => {
        for (const name of ['bees', 'bees in May', 'taxes'])
          await send(app, 'POST', '/api/v1/sessions', { name });
        return { body: { query: 'bees' } };
      },
    },
  ],
  updateDataLake: [
    {
      app: () => withLakes({ key: { scopes: ['datalake:write', 'datalake:share'] } }),
      ask: async (app) => ({ path: `/api/v1/data-lakes/${await makeLake(app)}`, body: { name: 'Old' } }),
    },
  ],
  createApiKey: [
    { app: chatModels(), ask: { body: { name: 'CI', scopes: ['ai:chat', 'me:read'] } } },
    { app: chatModels(), ask: { body: { name: 'CI', preset: 'read' } } },
  ],
  revokeApiKey: [
    {
      ask: async (app) => ({
        ...(await asAdministrator(app)),
        path: `/api/user-api-keys/${await makeKey(app)}/revoke`,
        body: {},
      }),
    },
  ],
  createBudget: [
    {
      app: chatModels(),
      ask: async (app) => ({ ...(await asAdministrator(app)), body: BUDGET }),
    },
    { ask: async (app) => ({ body: { ...BUDGET, scope: 'key', scopeId: await makeKey(app) } }) },
  ],
  updateOrganization: [
    {
      app: chatModels(),
      ask: async (app) => ({
        path: `/api/organizations/${await makeOrganization(app, app.user)}`,
        body: { name: 'Engines' },
      }),
    },
  ],
  transferOrganization: [
    {
      ask: async (app) => {
        const [grace, eve] = [await app.addUser('grace@example.com'), await app.addUser('eve@example.com')];
        const { id } = await addOrganization(app, { readerIds: [grace.id, eve.id] });
        return { path: `/api/organizations/${id}/transfer`, body: { userId: grace.id } };
      },
    },
  ],
  deleteRegistrationInvites: [
    {
      ask: async (app) => ({ ...(await asAdministrator(app)), body: { ids: ['0'.repeat(24)] } }),
    },
  ],
  initiateDeviceLogin: [
    {
      ask: { body: { client_id: 'questline-cli' } },
      afterwards: async (app, { text }) => {
        const { user_code } = JSON.parse(text) as { user_code: string };
        return send(app, 'POST', '/api/oauth/device/lookup', { user_code });
      },
    },
  ],
  verifyDeviceLogin: [
    {
      ask: async (app) => {
        const codes = await initiate(app);
        codesOf.set(app, codes);
        return { body: { user_code: codes.user_code, action: 'approve' } };
      },
      afterwards: async (app) => {
        const codes = codesOf.get(app);
        return codes && poll(app, codes);
      },
    },
  ],
  renewDeviceTokens: [
    {
      ask: async (app) => {
        const codes = await initiate(app);
        await decide(app, codes.user_code);
        const { refresh_token } = (await poll(app, codes)).body;
        return { body: { grant_type: 'refresh_token', refresh_token, client_id: 'questline-cli' } };
      },
    },
  ],
  listInvites: [
    {
      ask: async (app) => {
        const bob = await app.addUser('bob@example.com');
        const credential = await app.token(bob);
        for (let count = 0; count < 2; count += 1) {
          const id = await makeSession(app, bob);
          const body = { email: app.user.email };
          await app.ask('POST', `/api/session/${id}/invites`, { credential, body });
          await app.clock.advance(1000);
        }
        return {};
      },
    },
  ],
  listCreditTransactions: [charged(() => '/api/credits/transactions')],
  getUsageReport: [charged(() => '/api/v1/usage/report')],
  getOrganizationUsageReport: [charged((id) => `/api/organizations/${id}/usage-report`)],
  getWorkspaceUsageReport: [charged(() => '/api/usage-report')],
  revokeProjectSharing: shared('project', makeProject),
  revokeSessionSharing: shared('session', makeSession),
  revokeFileSharing: shared('file', makeFile),
  revokeAgentSharing: shared('agent', makeAgent),
  revokeArtifactSharing: shared('artifact', makeArtifact),
  revokeOrganizationSharing: shared('organization', makeOrganization),
};
