import { USERS } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { createTestApp, type TestApp } from '../support/test-app.ts';

interface WireKey {
  readonly id: string;
  readonly key: string;
}

const ROOT = '/api/user-api-keys';
const WISH = { name: 'CI', scopes: ['me:read'] };

async function as(app: TestApp, method: string, path: string, body?: object, email?: string) {
  const credential = await app.token(email === undefined ? app.user : await app.addUser(email));
  return app.ask(method, path, { credential, ...(body !== undefined && { body }) });
}

const getStatus = async (app: TestApp, credential: string): Promise<number> =>
  (await app.ask('GET', '/api/v1/me', { credential })).status;

describe('ten API keys of a user', () => {
  it('are the limit for 40 parallel creations, and a revocation frees one', async () => {
    const app = await createTestApp();
    const credential = await app.token();
    await getStatus(app, credential);
    const made = await Promise.all(
      Array.from({ length: 40 }, () => app.ask('POST', ROOT, { credential, body: WISH })),
    );
    // The app's user already has one key.
    expect(made.filter(({ status }) => status === 201)).toHaveLength(9);
    expect(made.filter(({ status }) => status === 400)).toHaveLength(31);
    await as(app, 'POST', `${ROOT}/${app.keyId}/revoke`);
    expect((await as(app, 'POST', ROOT, WISH)).status).toBe(201);
    expect((await as(app, 'POST', ROOT, WISH)).status).toBe(400);
  });

  it('do not include expired ones', async () => {
    const app = await createTestApp();
    for (let count = 0; count < 9; count += 1) await app.issue({ expiresAt: app.clock.now() + 1000 });
    expect((await as(app, 'POST', ROOT, WISH)).status).toBe(400);
    await app.clock.advance(1000);
    expect((await as(app, 'POST', ROOT, WISH)).status).toBe(201);
  });
});

describe('API key', () => {
  it('works after creation, stops at once when rotated or revoked, and can be revoked repeatedly', async () => {
    const app = await createTestApp();
    const made = (await (await as(app, 'POST', ROOT, WISH)).json()) as WireKey;
    expect(await getStatus(app, made.key)).toBe(200);
    const rotated = (await (await as(app, 'POST', `${ROOT}/${made.id}/rotate`)).json()) as WireKey;
    expect(rotated.id).toBe(made.id);
    expect(await getStatus(app, made.key)).toBe(401);
    expect(await getStatus(app, rotated.key)).toBe(200);
    for (let time = 0; time < 2; time += 1) {
      expect((await as(app, 'POST', `${ROOT}/${made.id}/revoke`)).status).toBe(200);
      expect(await getStatus(app, rotated.key)).toBe(401);
    }
  });

  it('applies its new limits at once', async () => {
    const app = await createTestApp();
    expect(await getStatus(app, app.key)).toBe(200);
    await as(app, 'PATCH', `${ROOT}/${app.keyId}/rate-limit`, { requestsPerMinute: 1 });
    expect(await getStatus(app, app.key)).toBe(429);
  });

  it('is shown with its secret only on creation', async () => {
    const app = await createTestApp();
    const made = (await (await as(app, 'POST', ROOT, WISH)).json()) as WireKey;
    const text = await (await as(app, 'GET', `${ROOT}?includeDisabled=true`)).text();
    expect(text).toContain(made.id);
    expect(text).not.toContain(made.key);
    expect(text).not.toContain('hash');
  });

  it('of another user is unknown and is not changed', async () => {
    const app = await createTestApp();
    const calls: [method: string, action: string, body?: object][] = [
      ['POST', 'rotate'],
      ['POST', 'revoke', {}],
      ['PATCH', 'rate-limit', { requestsPerMinute: 1 }],
    ];
    for (const [at, [method, action, body]] of calls.entries()) {
      const answers = [];
      for (const id of [app.keyId, '0'.repeat(24)]) {
        const answer = await as(app, method, `${ROOT}/${id}/${action}`, body, `eve${at}${id}@example.com`);
        const { error } = (await answer.json()) as { error: unknown };
        answers.push({ status: answer.status, error });
      }
      expect(answers[0]?.status).toBe(404);
      expect(answers[0]).toEqual(answers[1]);
    }
    expect(await getStatus(app, app.key)).toBe(200);
    expect(await getStatus(app, app.key)).toBe(200);
  });

  it('may have admin:* when an administrator creates it', async () => {
    const app = await createTestApp();
    const root = await app.addUser('root@example.com');
    await app.services.store.collection(USERS).update(root.id, { isAdmin: true });
    const credential = await app.token(root);
    const answer = await app.ask('POST', ROOT, { credential, body: { name: 'CI', scopes: ['admin:*'] } });
    expect(answer.status).toBe(201);
  });
});

describe('list of API keys', () => {
  it('hides revoked ones by default, has pages and marks expired ones', async () => {
    const app = await createTestApp();
    for (let count = 0; count < 3; count += 1) {
      await app.clock.advance(1000);
      await app.issue({ name: `k${count}`, expiresAt: count === 2 ? app.clock.now() + 1 : null });
    }
    await app.clock.advance(1000);
    await as(app, 'POST', `${ROOT}/${app.keyId}/revoke`);
    const list = async (query: string) =>
      (await (await as(app, 'GET', `${ROOT}${query}`)).json()) as {
        apiKeys: { name: string; status: string }[];
        pagination: object;
      };
    const all = await list('?includeDisabled=true');
    expect(all.apiKeys.map(({ name, status }) => [name, status])).toEqual([
      ['k2', 'expired'],
      ['k1', 'active'],
      ['k0', 'active'],
      ['test', 'disabled'],
    ]);
    const page = await list('?limit=2&page=2&order=asc');
    expect(page.apiKeys.map(({ name }) => name)).toEqual(['k2']);
    const pagination = {
      page: 2,
      limit: 2,
      total: 3,
      pages: 2,
      totalPages: 2,
      hasNext: false,
      hasPrev: true,
    };
    expect(page.pagination).toEqual(pagination);
  });
});
