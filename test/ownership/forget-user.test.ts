import { COLLECTIONS, type Operation, USERS } from '@questline/core';
import { FILES, LAKES, QUESTS } from '@questline/core/internal';
import { exportUser, forgetUser } from '@questline/core/personal-data';
import type { Store, WebhookSender } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createChatApp } from '../support/chat.ts';
import { createGenerationApp, createVideoStudio } from '../support/generations.ts';
import { createHostApp } from '../support/host.ts';
import { MAKERS } from '../support/owned-resources.ts';
import { addOrganization } from '../support/people.ts';
import { callAs } from '../support/sharing.ts';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/test-app.ts';
import { createWire } from '../support/wire.ts';
import { defaultCall } from './usual.ts';

/*
 * Walks every operation that writes: after it succeeds and the user is forgotten, no collection contains the
 * ID or address of the user, or a text of the request. A new collection or operation that is not covered
 * fails here.
 */

const { api } = (await createWire()).app;
const WRITES = api.routes
  .map(({ operation }) => operation)
  .filter(({ method, auth }) => method !== 'GET' && auth !== 'none');

/**
 * Operations whose data is not the user's: administrators write for the workspace, a transfer names another
 * user; and names used by the API itself.
 */
const SHARED: readonly string[] = ['updateAdminSetting', 'transferOrganization'];
const WORDS: readonly string[] = [
  'credits',
  'disabled',
  'scripted',
  'organization',
  'painter',
  'director',
  'composer',
];

/** The worker looks seldom for due jobs: looks in vain are most of the work of a long time. */
const SELDOM: TestAppOptions = { settings: { worker: { pollMs: 60_000 } } };

async function readAll(store: Store): Promise<string> {
  const content: Record<string, unknown> = {};
  for (const shape of COLLECTIONS) content[shape.name] = await store.collection(shape as never).find({});
  return JSON.stringify(content, undefined, 1);
}

async function readLines(archive: AsyncIterable<string> | undefined): Promise<string[]> {
  const lines = [];
  for await (const line of archive ?? []) lines.push(line);
  return lines;
}

/**
 * Runs all accepted work, and clean-up jobs that are due later, such as that of an upload that never arrived.
 */
async function finishWork(app: TestApp): Promise<void> {
  await app.api.start();
  for (let turn = 0; turn < 60; turn += 1) await app.clock.advance(turn < 30 ? 100 : 150_000);
}

/** Texts of a body that are long enough to be content. */
function getTexts(value: unknown): string[] {
  if (typeof value === 'string') return value.length >= 6 && !WORDS.includes(value) ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(getTexts);
}

async function expectForgotten(app: TestApp, texts: readonly string[] = []): Promise<void> {
  const { services, user } = app;
  expect(await forgetUser(services, { userId: user.id })).toBe(true);
  await finishWork(app);
  const left = (await readAll(services.store)).split('\n');
  for (const trace of [user.id, user.email, ...texts]) {
    expect(left.filter((line) => line.includes(trace))).toEqual([]);
  }
  expect(await forgetUser(services, { userId: user.id })).toBe(false);
}

describe('a forgotten user leaves nothing behind after', () => {
  it.each(WRITES.map((operation) => [operation.id, operation] as const))(
    '%s',
    async (id, operation: Operation) => {
      const { wire, asked } = await defaultCall(operation, SELDOM);
      const { app } = wire;
      const answer = await wire.sendAndWait(asked);
      expect(answer.status).toBeLessThan(400);
      await finishWork(app);
      const texts = SHARED.includes(id) || asked.body instanceof Uint8Array ? [] : getTexts(asked.body);
      await expectForgotten(app, texts);
      await app.api.close();
    },
  );
});

describe('forgetUser', () => {
  it('erases one record of each kind, with its bytes and index entries, and nothing of another user', async () => {
    const app = await createTestApp();
    const { services, user } = app;
    const other = await app.addUser('other@example.com');
    for (const maker of new Set(Object.values(MAKERS))) {
      await maker(app, user);
      await maker(app, other);
    }
    await finishWork(app);
    const files = await services.store.collection(FILES).find({ ownerId: user.id });
    const lakes = await services.store.collection(LAKES).find({ ownerId: user.id });
    expect(files.map(({ objectKey }) => typeof objectKey)).toEqual(files.map(() => 'string'));
    expect(files).not.toEqual([]);
    const before = await services.store.collection(FILES).count({ ownerId: other.id });
    await expectForgotten(app);
    for (const { objectKey = '' } of files) expect(await services.objects.head(objectKey)).toBeUndefined();
    for (const { id } of lakes) expect(await services.vectors.count({ lakeId: id })).toBe(0);
    expect(await services.store.collection(FILES).count({ ownerId: other.id })).toBe(before);
    const credential = await app.token(other);
    for (const path of ['/api/v1/me', '/api/v1/sessions', '/api/v1/files']) {
      expect((await app.ask('GET', path, { credential })).status).toBe(200);
    }
    await app.api.close();
  });

  it('invalidates keys, tokens and host sessions at once, and a new sign-in creates a new user', async () => {
    const host = await createHostApp({ settings: { admin: { defaultFreeCredits: 5 } } });
    const { services } = host.app;
    const session = host.signIn({ externalId: 'auth0|alice', email: 'alice@example.com' });
    const me = () => host.ask(session, 'GET', '/api/v1/me');
    const first = await me();
    expect(await forgetUser(services, { externalId: 'auth0|alice' })).toBe(true);
    expect(await readAll(services.store)).not.toMatch(/alice/);
    const again = await me();
    expect(again.status).toBe(200);
    expect(again.body.id).not.toBe(first.body.id);
    expect(await forgetUser(services, { externalId: 'auth0|bob' })).toBe(false);

    expect(await forgetUser(services, { userId: host.app.user.id })).toBe(true);
    for (const credential of [host.app.key, await host.app.token()]) {
      expect((await host.app.ask('GET', '/api/v1/me', { credential })).status).toBe(401);
    }
  });

  it('stops running work, waits until its worker has ended, and erases what it has stored', async () => {
    const app = await createChatApp({
      settings: { admin: { DefaultAPIModel: 'scripted' } },
      // The model never answers.
      onCall: () => undefined,
    });
    const { body } = await app.chat({ message: 'A question that is never answered' });
    await app.settle();
    expect(app.model.calls).toHaveLength(1);
    const forgotten = forgetUser(app.services, { userId: app.user.id });
    for (let step = 0; step < 20; step += 1) await app.clock.advance(100);
    expect(await forgotten).toBe(true);
    expect(app.model.calls[0]?.stopped).toBe(true);
    const left = await readAll(app.services.store);
    expect(left).not.toContain(app.user.id);
    expect(left).not.toContain(body.id);
    const { held } = await app.ledger.balance(app.account);
    expect(held).toBe(0);
    await app.api.close();
  });

  it('cancels a running video job, and erases the generation', async () => {
    const studio = createVideoStudio();
    const app = await createGenerationApp(studio);
    const made = await app.video();
    await app.settle();
    expect(studio.videos.all).toHaveLength(1);
    const forgotten = forgetUser(app.services, { userId: app.user.id }, { timeoutMs: 300_000 });
    for (let second = 0; second < 120; second += 1) await app.clock.advance(1000);
    expect(await forgotten).toBe(true);
    expect(await readAll(app.services.store)).not.toContain(made.body.id);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    await app.api.close();
  });

  it('rejects when work does not end in time, with the account disabled, and continues later', async () => {
    const { wire, asked } = await defaultCall(
      api.routes
        .map(({ operation }) => operation)
        .find(({ id }) => id === 'startAgentExecution') as Operation,
    );
    const { app } = wire;
    expect((await wire.send(asked)).status).toBe(202);
    // A worker that does not detect that its quest was stopped.
    const quests = app.services.store.collection(QUESTS);
    const [quest] = await quests.find({ ownerId: app.user.id });
    await quests.update(quest?.id ?? '', { status: 'running', jobId: 'j', fence: 1 });
    const forgotten = forgetUser(app.services, { userId: app.user.id }, { timeoutMs: 1000 });
    const refused = expect(forgotten).rejects.toThrow('still running after 1000 ms');
    for (let step = 0; step < 20; step += 1) await app.clock.advance(100);
    await refused;
    expect((await wire.send(asked)).status).toBe(401);
    await finishWork(app);
    await expectForgotten(app);
    await app.api.close();
  });

  it('rejects when the account cannot be deleted, and erases it in the next call', async () => {
    let isAway = false;
    const app = await createTestApp({
      store: (store) => ({
        ...store,
        transaction: (work, options) =>
          store.transaction(
            (inner) =>
              work({
                ...inner,
                collection(definition) {
                  const records = inner.collection(definition);
                  if (definition.name !== USERS.name) return records;
                  return {
                    ...records,
                    take: (...given) => (isAway ? Promise.reject(new Error('away')) : records.take(...given)),
                  };
                },
              }),
            options,
          ),
      }),
    });
    isAway = true;
    await expect(forgetUser(app.services, { userId: app.user.id })).rejects.toThrow('away');
    isAway = false;
    await expectForgotten(app);
  });

  it('transfers an organization with members, and deletes one without', async () => {
    const app = await createTestApp();
    const member = await app.addUser('member@example.com');
    const passed = await addOrganization(app, { writerIds: [member.id] });
    const deleted = await addOrganization(app);
    await expectForgotten(app);
    const { store } = app.services;
    const left = JSON.parse(await readAll(store)) as {
      organizations: readonly { id: string; ownerId: string }[];
    };
    expect(left.organizations.map(({ id, ownerId }) => [id, ownerId])).toEqual([[passed.id, member.id]]);
    expect(JSON.stringify(left)).not.toContain(deleted.id);
  });
});

describe('exportUser', () => {
  it('writes everything of a user, and nothing of another user and no secret', async () => {
    const app = await createTestApp();
    const { services, user } = app;
    const other = await app.addUser('other@example.com');
    for (const maker of new Set(Object.values(MAKERS))) {
      await maker(app, user);
      await maker(app, other);
    }
    await finishWork(app);
    const archive = await exportUser(services, { userId: user.id });
    if (archive === undefined) throw new Error('the user is unknown');
    const lines = [];
    for await (const line of archive) {
      expect(line.endsWith('\n')).toBe(true);
      lines.push(JSON.parse(line) as { collection: string; record: Record<string, unknown> });
    }
    const names = new Set(lines.map(({ collection }) => collection));
    for (const name of [
      'users',
      'sessions',
      'files',
      'bytes',
      'agents',
      'artifacts',
      'artifact_versions',
      'projects',
      'mementos',
      'quests',
      'generations',
      'api_keys',
      'organizations',
      'ledger',
    ]) {
      expect(names).toContain(name);
    }
    const bytes = lines.filter(({ collection }) => collection === 'bytes');
    expect(bytes.map(({ record }) => Buffer.from(String(record.base64), 'base64').toString())).toContain(
      '12345',
    );
    const text = JSON.stringify(lines);
    expect(text).not.toContain(other.id);
    expect(text).not.toMatch(/"(?:hash|sealed|tokenVersion|sealedPrompt)":/);
    expect(await exportUser(services, { externalId: 'unknown' })).toBeUndefined();
    await app.api.close();
  });

  it('leaves out every text field whose name suggests a secret, in every collection', async () => {
    const app = await createTestApp();
    const { services, user } = app;
    const words = ['secret', 'hash', 'tokenHash', 'sealedText', 'password', 'accessToken', 'inviteCode'];
    const names = new Set<string>();
    for (const shape of COLLECTIONS) {
      const planted = [...words, ...Object.keys(shape.secretFields ?? {})]
        .filter((field) => shape.secretFields?.[field] !== false)
        .filter((field) => (shape.columns[field] ?? 'text') === 'text')
        .map((field) => [field, 'PLANTED']);
      const record = {
        id: shape.name === 'users' ? user.id : services.ids.next(),
        ...{ ownerId: user.id, userId: user.id, owner: `user:${user.id}`, createdBy: user.id },
        ...Object.fromEntries(planted),
      };
      const collection = services.store.collection(shape as never);
      if (!(await collection.insert(record as never))) await collection.update(record.id, record as never);
      if ('ownerId' in shape.columns || 'userId' in shape.columns) names.add(shape.name);
    }
    const archive = await exportUser(services, { userId: user.id });
    const lines = await readLines(archive);
    expect(lines.join('')).not.toContain('PLANTED');
    for (const name of [...names, 'users', 'webhooks', 'registration_invites']) {
      expect(lines.some((line) => line.startsWith(`{"collection":"${name}"`))).toBe(true);
    }
    await app.api.close();
  });

  it('contains the webhooks of the user with their deliveries, and no secret of them', async () => {
    const sender: WebhookSender = {
      isAllowed: async () => true,
      send: async () => ({ outcome: 'answered', status: 200 }),
    };
    const app = await createChatApp({ webhooks: sender });
    const url = 'https://hooks.example.com/in';
    const { body } = await callAs(app, app.user, 'POST', '/api/webhooks', { url });
    await callAs(app, app.user, 'POST', `/api/webhooks/${body.id}/test`);
    await app.settle();
    const archive = await exportUser(app.services, { userId: app.user.id });
    const text = (await readLines(archive)).join('');
    expect(text).toContain(url);
    expect(text).toContain('webhook.test');
    expect(text).not.toContain(body.secret);
    expect(text).not.toContain('sealedSecret');
    await app.api.close();
  });
});
