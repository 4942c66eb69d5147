import { USERS, type UserRecord } from '@questline/core';
import { createRandom } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createTestApp, type TestApp } from '../support/test-app.ts';
import { type ActState, createActs } from './acts.ts';

const ACTS = 500;
const USERS_COUNT = 8;

interface Entry {
  readonly action: string;
  readonly actor: { readonly type: string; readonly userId: string | null };
  readonly target: { readonly id: string };
  readonly requestId: string | null;
  readonly organizationId: string | null;
}

async function signIn({ services }: TestApp, { id }: UserRecord): Promise<string> {
  const user = await services.store.collection(USERS).get(id);
  if (user === undefined) throw new Error('the user is unknown');
  return services.tokens.sign({ id, tokenVersion: user.tokenVersion, typ: 'access' });
}

async function readLog(app: TestApp, path: string, reader: UserRecord): Promise<Entry[]> {
  const entries: Entry[] = [];
  let cursor: string | null = null;
  do {
    const query = `limit=100${cursor === null ? '' : `&cursor=${cursor}`}`;
    const answer = await app.ask('GET', `${path}?${query}`, { credential: await signIn(app, reader) });
    expect(answer.status).toBe(200);
    const page = (await answer.json()) as { data: Entry[]; next_cursor: string | null };
    entries.push(...page.data);
    cursor = page.next_cursor;
    await app.clock.advance(1000);
  } while (cursor !== null);
  return entries;
}

const toLine = ({ requestId, actor, action, target }: Entry) =>
  `${requestId} ${actor.type} ${actor.userId} ${action} ${target.id}`;

describe('audit log after random administrative acts over HTTP', () => {
  it(`contains an entry for each of ${ACTS} acts, and no other`, { timeout: 60_000 }, async () => {
    const app = await createTestApp();
    const { services, user: admin } = app;
    await services.store.collection(USERS).update(admin.id, { isAdmin: true });
    const users: UserRecord[] = [];
    for (let at = 0; at < USERS_COUNT; at += 1) users.push(await app.addUser(`user-${at}@example.com`));
    const random = createRandom(16);
    const state: ActState = {
      admin,
      users,
      random,
      keys: [],
      providerKeys: [],
      organizations: [],
      webhooks: [],
      invites: [],
      shares: [],
      rights: new Map(),
      next: 0,
      ids: services.ids,
    };
    const acts = createActs(state);
    const expected: string[] = [];
    const organizations = new Map<string, number>();
    for (let at = 0; at < ACTS; ) {
      const act = random.pick(acts)();
      if (act === undefined) continue;
      await app.clock.advance(5000);
      const answer = await app.ask(act.method, act.path, {
        credential: await signIn(app, act.by),
        headers: { 'X-Request-ID': `act-${at}` },
        ...(act.body !== undefined && { body: act.body }),
      });
      const text = await answer.text();
      expect({ path: act.path, status: answer.status, text }).toEqual({
        path: act.path,
        status: act.status,
        text,
      });
      const done = act.done?.(text === '' ? undefined : JSON.parse(text)) ?? [];
      for (const { action, target, organizationId } of done) {
        expected.push(`act-${at} user ${act.by.id} ${action} ${target}`);
        if (organizationId === undefined) continue;
        organizations.set(organizationId, (organizations.get(organizationId) ?? 0) + 1);
      }
      at += 1;
    }

    const log = await readLog(app, '/api/audit', admin);
    const written = log.filter(({ requestId }) => requestId !== null);
    expect(written.map(toLine).sort()).toEqual(expected.sort());
    // Before the first act: the users, and the key of the app.
    expect(log.length - written.length).toBe(USERS_COUNT + 3);
    for (const { id, owner } of state.organizations) {
      const reader = state.rights.get(owner)?.disabled === true ? admin : owner;
      const own = await readLog(app, `/api/organizations/${id}/audit`, reader);
      expect(own.length).toBe(organizations.get(id));
      expect(own.every(({ organizationId }) => organizationId === id)).toBe(true);
    }
    await app.clock.advance(60_000);
    const exported = await app.ask('GET', '/api/audit/export', { credential: await signIn(app, admin) });
    const lines = (await exported.text()).trimEnd().split('\n');
    const inOrder = lines.map((line) => toLine(JSON.parse(line) as Entry));
    expect(inOrder).toEqual(log.map(toLine).reverse());
  });
});
