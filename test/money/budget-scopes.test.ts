import { describe, expect, it } from 'vitest';
import { createScriptedProvider, type ModelCall, SCRIPTED_MODEL } from '../support/model.ts';
import { MAKERS } from '../support/owned-resources.ts';
import { addOrganization } from '../support/people.ts';
import { callAs } from '../support/sharing.ts';
import { adminToken } from '../support/sign-in.ts';
import { createTestApp } from '../support/test-app.ts';

const WISH = { window: 'month', limit: { unit: 'tokens', amount: 10 } };
const UNKNOWN = 'f'.repeat(24);

/** The app's user administers the workspace; Ada owns one scope of each kind. */
async function setUp() {
  const models = [SCRIPTED_MODEL, { ...SCRIPTED_MODEL, id: 'second', name: 'Second' }];
  const app = await createTestApp({ models: [createScriptedProvider(() => undefined, models)] });
  await adminToken(app);
  const ada = await app.addUser('countess@example.com');
  const ids = {
    user: ada.id,
    key: (await app.issue({ userId: ada.id })).record.id,
    project: (await MAKERS.projects?.(app, ada)) ?? '',
    organization: (await addOrganization(app, { ownerId: ada.id })).id,
  };
  const send = <const Method extends string, const Rest extends string>(
    who: typeof ada,
    method: Method,
    rest: Rest,
    body?: object,
  ) => callAs(app, who, method, `/api/budgets${rest}`, body);
  const create = (who: typeof ada, change: object) => send(who, 'POST', '', { ...WISH, ...change });
  return { app, root: app.user, ada, ids, send, create };
}

describe('scope of a budget', () => {
  it.each(['user', 'key', 'project', 'organization'] as const)(
    'is a %s of the caller, or any that exists for an administrator',
    async (scope) => {
      const { app, root, ada, ids, send, create } = await setUp();
      const scopeId = ids[scope];
      const own = await create(ada, { scope, scopeId });
      expect(own.body).toMatchObject({ scope, scopeId, managedBy: 'owner', editable: true });
      const given = await create(root, { scope, scopeId });
      expect(given.body).toMatchObject({ scope, scopeId, managedBy: 'administrator', editable: true });
      expect((await create(root, { scope, scopeId: UNKNOWN })).status).toBe(404);
      const eve = await app.addUser('eve@example.com');
      expect((await create(eve, { scope, scopeId })).status).toBe(404);

      const list = async (who: typeof ada) =>
        (await send(who, 'GET', `?order=asc&scope=${scope}&scopeId=${scopeId}`)).body.budgets?.map(
          (budget: { id: string; editable: boolean }) => [budget.id, budget.editable],
        );
      expect(await list(ada)).toEqual([
        [own.body.id, true],
        [given.body.id, false],
      ]);
      expect(await list(root)).toEqual([
        [own.body.id, true],
        [given.body.id, true],
      ]);
      expect(await list(eve)).toBeUndefined();
      expect((await send(root, 'GET', `/${own.body.id}`)).status).toBe(200);
      expect((await send(root, 'PATCH', `/${own.body.id}`, { amount: 5 })).body.limit.amount).toBe(5);
      expect((await send(eve, 'GET', `/${own.body.id}`)).status).toBe(404);
      expect((await send(root, 'DELETE', `/${own.body.id}`)).status).toBe(204);
      expect(await list(ada)).toEqual([[given.body.id, false]]);
    },
  );

  it('has an id exactly if its kind needs one', async () => {
    const { root, ada, send, create } = await setUp();
    expect((await create(root, { scope: 'everyone', scopeId: ada.id })).status).toBe(422);
    expect((await create(root, { scope: 'everyone' })).body).toMatchObject({ scopeId: null });
    expect((await create(ada, { scope: 'user' })).body).toMatchObject({ scopeId: ada.id });
    expect((await send(ada, 'GET', `?scopeId=${ada.id}`)).status).toBe(422);
    expect((await send(ada, 'GET', '?all=true')).status).toBe(403);
    expect((await send(root, 'GET', '?all=true')).body.pagination.total).toBe(2);
  });
});

describe('budget', () => {
  it('is the same with its models in another order and its zone in other letters', async () => {
    const { ada, send, create } = await setUp();
    const scope = 'user';
    const first = await create(ada, { scope, timeZone: 'Europe/Berlin' });
    expect(first.status).toBe(201);
    expect((await create(ada, { scope, timeZone: 'europe/berlin' })).status).toBe(409);
    const second = await create(ada, { scope, timeZone: 'Europe/Paris', name: 'Paris' });
    const changed = await send(ada, 'PATCH', `/${second.body.id}`, { amount: 7 });
    expect(changed.body).toMatchObject({ name: 'Paris', limit: { unit: 'tokens', amount: 7 } });
    for (const [models, status] of [
      [['scripted', 'second'], 201],
      [['second', 'scripted'], 409],
      [['scripted'], 201],
    ] as const)
      expect((await create(ada, { scope, models })).status).toBe(status);
    const limit = { unit: 'concurrent', amount: 2 };
    expect((await create(ada, { scope, window: 'total', limit })).body.window).toBe('total');
    expect((await create(ada, { scope, window: undefined, limit })).status).toBe(409);
    expect((await create(ada, { scope, window: 'day', limit })).status).toBe(422);
  });

  it('of an organization is in its audit log with amounts of its unit', async () => {
    const { app, ada, ids, send, create } = await setUp();
    const made = await create(ada, { scope: 'organization', scopeId: ids.organization, name: 'Tokens' });
    await app.clock.advance(1);
    await send(ada, 'PATCH', `/${made.body.id}`, { amount: 20, name: 'More' });
    await app.clock.advance(1);
    await send(ada, 'DELETE', `/${made.body.id}`);
    await create(ada, { scope: 'user' });
    const { body } = await callAs(app, ada, 'GET', `/api/organizations/${ids.organization}/audit`);
    const entries = body.data
      .filter(({ action }: { action: string }) => action.startsWith('budget.'))
      .map(
        ({ action, target, changes }: { action: string; target: object; changes: { field: string }[] }) => [
          action,
          target,
          changes.find(({ field }) => field === 'amount'),
        ],
      );
    const target = { type: 'budget', id: made.body.id };
    expect(entries).toEqual([
      ['budget.deleted', target, { field: 'amount', before: 20, after: null }],
      ['budget.updated', target, { field: 'amount', before: 10, after: 20 }],
      ['budget.created', target, { field: 'amount', before: null, after: 10 }],
    ]);
  });

  it('shows what running calls hold as reserved, and later as spent', async () => {
    const calls: ModelCall[] = [];
    const app = await createTestApp({ models: [createScriptedProvider((call) => void calls.push(call))] });
    const limit = { unit: 'credits', amount: 10 };
    const input = { scope: 'user', window: 'total', limit };
    const { id } = (await callAs(app, app.user, 'POST', '/api/budgets', input)).body;
    const read = async () => (await callAs(app, app.user, 'GET', `/api/budgets/${id}`)).body;
    const messages = [{ role: 'user', content: '0123456789' }];
    const body = { model: 'scripted', messages, options: { maxTokens: 96 } };
    const answer = app.ask('POST', '/api/ai/v1/completions', { body });
    await app.settle();
    expect(await read()).toMatchObject({ spent: 0, reserved: 1, left: 9 });
    for (const call of calls) {
      call.say({ type: 'text', text: 'yes' }, { type: 'usage', usage: { input: 4, output: 46 } });
      call.say({ type: 'finish', reason: 'stop' });
      call.end();
    }
    await (await answer).text();
    expect(await read()).toMatchObject({ spent: 0.5, reserved: 0, left: 9.5 });
  });
});
