import { USERS } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { createWorld, type World } from '../support/world.ts';

interface WireKey {
  readonly id: string;
  readonly key: string;
}

const ROOT = '/api/user-api-keys';
const WISH = { name: 'CI', scopes: ['me:read'] };

async function as(world: World, method: string, path: string, body?: object, email?: string) {
  const credential = await world.token(email === undefined ? world.user : await world.addUser(email));
  return world.ask(method, path, { credential, ...(body !== undefined && { body }) });
}

const statusOf = async (world: World, credential: string): Promise<number> =>
  (await world.ask('GET', '/api/v1/me', { credential })).status;

describe('the ten keys of a user', () => {
  it('are ten for 40 parallel makers, and revoking one makes room', async () => {
    const world = await createWorld();
    const credential = await world.token();
    await statusOf(world, credential);
    const made = await Promise.all(
      Array.from({ length: 40 }, () => world.ask('POST', ROOT, { credential, body: WISH })),
    );
    // The world's user has one already.
    expect(made.filter(({ status }) => status === 201)).toHaveLength(9);
    expect(made.filter(({ status }) => status === 400)).toHaveLength(31);
    await as(world, 'POST', `${ROOT}/${world.keyId}/revoke`);
    expect((await as(world, 'POST', ROOT, WISH)).status).toBe(201);
    expect((await as(world, 'POST', ROOT, WISH)).status).toBe(400);
  });

  it('do not count those that have expired', async () => {
    const world = await createWorld();
    for (let count = 0; count < 9; count += 1) await world.issue({ expiresAt: world.clock.now() + 1000 });
    expect((await as(world, 'POST', ROOT, WISH)).status).toBe(400);
    await world.clock.advance(1000);
    expect((await as(world, 'POST', ROOT, WISH)).status).toBe(201);
  });
});

describe('a key', () => {
  it('works as made, dies at once when rotated or revoked, and revoking is repeatable', async () => {
    const world = await createWorld();
    const made = (await (await as(world, 'POST', ROOT, WISH)).json()) as WireKey;
    expect(await statusOf(world, made.key)).toBe(200);
    const rotated = (await (await as(world, 'POST', `${ROOT}/${made.id}/rotate`)).json()) as WireKey;
    expect(rotated.id).toBe(made.id);
    expect(await statusOf(world, made.key)).toBe(401);
    expect(await statusOf(world, rotated.key)).toBe(200);
    for (let time = 0; time < 2; time += 1) {
      expect((await as(world, 'POST', `${ROOT}/${made.id}/revoke`)).status).toBe(200);
      expect(await statusOf(world, rotated.key)).toBe(401);
    }
  });

  it('follows its new ceilings at once', async () => {
    const world = await createWorld();
    expect(await statusOf(world, world.key)).toBe(200);
    await as(world, 'PATCH', `${ROOT}/${world.keyId}/rate-limit`, { requestsPerMinute: 1 });
    expect(await statusOf(world, world.key)).toBe(429);
  });

  it('is shown with its secret only where it is made', async () => {
    const world = await createWorld();
    const made = (await (await as(world, 'POST', ROOT, WISH)).json()) as WireKey;
    const text = await (await as(world, 'GET', `${ROOT}?includeDisabled=true`)).text();
    expect(text).toContain(made.id);
    expect(text).not.toContain(made.key);
    expect(text).not.toContain('hash');
  });

  it("of another user's answers like an unknown one, and stays as it was", async () => {
    const world = await createWorld();
    const calls: [method: string, action: string, body?: object][] = [
      ['POST', 'rotate'],
      ['POST', 'revoke', {}],
      ['PATCH', 'rate-limit', { requestsPerMinute: 1 }],
    ];
    for (const [at, [method, action, body]] of calls.entries()) {
      const answers = [];
      for (const id of [world.keyId, '0'.repeat(24)]) {
        const answer = await as(world, method, `${ROOT}/${id}/${action}`, body, `eve${at}${id}@example.com`);
        const { error } = (await answer.json()) as { error: unknown };
        answers.push({ status: answer.status, error });
      }
      expect(answers[0]?.status).toBe(404);
      expect(answers[0]).toEqual(answers[1]);
    }
    expect(await statusOf(world, world.key)).toBe(200);
    expect(await statusOf(world, world.key)).toBe(200);
  });

  it('may hold admin:* when an administrator makes it', async () => {
    const world = await createWorld();
    const root = await world.addUser('root@example.com');
    await world.services.store.collection(USERS).update(root.id, { isAdmin: true });
    const credential = await world.token(root);
    const answer = await world.ask('POST', ROOT, { credential, body: { name: 'CI', scopes: ['admin:*'] } });
    expect(answer.status).toBe(201);
  });
});

describe('the list of keys', () => {
  it('hides the revoked unless asked for, pages, and shows the expired as such', async () => {
    const world = await createWorld();
    for (let count = 0; count < 3; count += 1) {
      await world.clock.advance(1000);
      await world.issue({ name: `k${count}`, expiresAt: count === 2 ? world.clock.now() + 1 : null });
    }
    await world.clock.advance(1000);
    await as(world, 'POST', `${ROOT}/${world.keyId}/revoke`);
    const list = async (query: string) =>
      (await (await as(world, 'GET', `${ROOT}${query}`)).json()) as {
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
