import { ARTIFACTS, MESSAGES, SESSIONS, STORAGE_USAGE, type StorageKind } from '@questline/core/internal';
import { StorageUnavailable } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createChatApp } from '../support/chat.ts';
import { createFileApp } from '../support/files.ts';
import { createBreakableStore } from '../support/store.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

const SCOPES = [
  'notebooks:read',
  'notebooks:write',
  'ai:chat',
  'files:write',
  'datalake:write',
  'datalake:read',
] as const;
const key = { scopes: SCOPES, requestsPerMinute: 10_000, requestsPerDay: 100_000 };

async function readUsage({ services, user }: TestApp, kind: StorageKind): Promise<number> {
  return (await services.store.collection(STORAGE_USAGE).get(`${user.id}:${kind}`))?.bytes ?? 0;
}

const artifact = (size: number) => ({ type: 'code', title: 'One', content: 'x'.repeat(size) });

describe('quota of artifacts', () => {
  const create = () =>
    createTestApp({
      key,
      settings: { storageQuotas: { artifacts: 10_000 }, admin: { EnableArtifacts: true } },
    });

  it('is not exceeded by parallel writes and counts exactly the stored bytes', async () => {
    const app = await create();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => app.ask('POST', '/api/v1/artifacts', { body: artifact(1744) })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(15);
    expect(await readUsage(app, 'artifacts')).toBe(10_000);
    expect(await app.services.store.collection(ARTIFACTS).count({})).toBe(5);
  });

  it('reports the quota, the usage and the limit', async () => {
    const app = await create();
    await app.ask('POST', '/api/v1/artifacts', { body: artifact(9000) });
    const refused = await app.ask('POST', '/api/v1/artifacts', { body: artifact(1000) });
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({
      errorCode: 'limit_exceeded',
      error:
        'Storage quota exceeded: artifacts of one owner may take up 10000 bytes, 9256 are used and 1256 more are needed',
    });
  });

  it('counts every version and releases all of them with the artifact', async () => {
    const app = await create();
    const made = (await (await app.ask('POST', '/api/v1/artifacts', { body: artifact(3000) })).json()) as {
      id: string;
    };
    const path = `/api/v1/artifacts/${made.id}`;
    const change = (letter: string) => app.ask('PATCH', path, { body: { content: letter.repeat(3000) } });
    expect((await change('y')).status).toBe(200);
    expect((await change('z')).status).toBe(200);
    expect((await change('w')).status).toBe(422);
    expect(await readUsage(app, 'artifacts')).toBe(3 * 3256);
    expect((await app.ask('DELETE', path)).status).toBe(204);
    expect(await readUsage(app, 'artifacts')).toBe(0);
  });

  it('is disabled by null', async () => {
    const app = await createTestApp({
      key,
      settings: { storageQuotas: { artifacts: null }, admin: { EnableArtifacts: true } },
    });
    expect((await app.ask('POST', '/api/v1/artifacts', { body: artifact(500_000) })).status).toBe(201);
    expect(await readUsage(app, 'artifacts')).toBe(500_256);
  });
});

describe('quota of sessions and messages', () => {
  it('counts sessions and messages, rejects more and releases them with the session', async () => {
    const app = await createChatApp({ key, settings: { storageQuotas: { sessions: 5000 } } });
    const made = await app.json('POST', '/api/v1/sessions', { body: { name: 'One' } });
    const own = await readUsage(app, 'sessions');
    expect(own).toBeGreaterThan(0);
    const say = (message: string) => app.chat({ message, sessionId: made.body.id, wait: true });
    expect((await say('a'.repeat(6000))).status).toBe(200);
    const messages = await app.services.store.collection(MESSAGES).find({});
    const sum = messages.reduce((total, { bytes = 0 }) => total + bytes, 0);
    expect(await readUsage(app, 'sessions')).toBe(own + sum);
    const refused = await say('Hi');
    expect(refused.status).toBe(422);
    expect(refused.body.error).toMatch(
      /^Storage quota exceeded: sessions and messages of one owner may take up 5000/,
    );
    expect((await app.json('POST', '/api/v1/sessions', { body: { name: 'Two' } })).status).toBe(422);

    expect((await app.json('DELETE', `/api/sessions/${made.body.id}`)).status).toBe(200);
    await app.clock.advance(70_000);
    await app.settle();
    expect(await app.services.store.collection(MESSAGES).count({})).toBe(0);
    expect(await readUsage(app, 'sessions')).toBe(0);
  });

  it('counts the growth and shrinkage of a session', async () => {
    const app = await createTestApp({ key, settings: { storageQuotas: { sessions: 3000 } } });
    const made = (await (await app.ask('POST', '/api/v1/sessions', { body: { name: 'One' } })).json()) as {
      id: string;
    };
    const before = await readUsage(app, 'sessions');
    const put = (text: string) =>
      app.ask('PUT', `/api/sessions/${made.id}`, { body: { systemPromptText: text } });
    expect((await put('x'.repeat(1000))).status).toBe(200);
    expect(await readUsage(app, 'sessions')).toBeGreaterThan(before + 1000);
    expect((await put('x'.repeat(4000))).status).toBe(422);
    expect((await app.services.store.collection(SESSIONS).get(made.id))?.systemPromptText).toHaveLength(1000);
    expect((await put('x')).status).toBe(200);
    expect(await readUsage(app, 'sessions')).toBeLessThan(before + 100);
  });

  it('counts nothing for a rejected clone', async () => {
    const app = await createChatApp({ key, settings: { storageQuotas: { sessions: 9000 } } });
    const made = await app.json('POST', '/api/v1/sessions', { body: { name: 'One' } });
    await app.chat({ message: 'a'.repeat(5000), sessionId: made.body.id, wait: true });
    const before = await readUsage(app, 'sessions');
    expect((await app.json('POST', `/api/v1/sessions/${made.body.id}/clone`)).status).toBe(422);
    expect(await readUsage(app, 'sessions')).toBe(before);
    expect(await app.services.store.collection(MESSAGES).count({})).toBe(2);
  });

  it('counts nothing for a clone that fails at any point', async () => {
    const breakable = createBreakableStore();
    const app = await createChatApp({ key, store: breakable.wrap });
    const made = await app.json('POST', '/api/v1/sessions', { body: { name: 'One' } });
    await app.chat({ message: 'Hi', sessionId: made.body.id, wait: true });
    const before = await readUsage(app, 'sessions');
    let broken = 0;
    for (let callsBeforeFailure = 0; callsBeforeFailure < 100; callsBeforeFailure += 1) {
      breakable.callsBeforeFailure = callsBeforeFailure;
      breakable.failure = new StorageUnavailable('broken off');
      const { status, body } = await app.json('POST', `/api/v1/sessions/${made.body.id}/clone`);
      breakable.failure = undefined;
      if (status === 200) {
        await app.json('DELETE', `/api/sessions/${body.id}`);
        break;
      }
      broken += 1;
    }
    expect(broken).toBeGreaterThan(4);
    await app.clock.advance(20 * 60_000);
    await app.settle();
    expect(await app.services.store.collection(MESSAGES).count({})).toBe(2);
    expect(await readUsage(app, 'sessions')).toBe(before);
  });
});

describe('quota of data lakes', () => {
  it('counts files by size, rejects more and releases them with the file and the lake', async () => {
    const app = await createFileApp({
      key,
      settings: { storageQuotas: { lakes: 100 }, admin: { EnableDataLakes: true, enforceCredits: false } },
    });
    const getLake = async () =>
      (
        (await (await app.ask('POST', '/api/v1/data-lakes', { body: { name: 'One' } })).json()) as {
          id: string;
        }
      ).id;
    const [one, two] = [await getLake(), await getLake()];
    const files = [];
    for (const letter of ['a', 'b', 'c']) files.push((await app.upload(letter.repeat(40))).id as string);
    const add = async (lake: string, file: string | undefined) =>
      (await app.ask('POST', `/api/v1/data-lakes/${lake}/files/${file}`)).status;
    const first = await add(one, files[0]);
    expect(first).toBeLessThan(300);
    expect(await add(one, files[0])).toBe(first);
    expect(await add(two, files[1])).toBe(first);
    expect(await readUsage(app, 'lakes')).toBe(80);
    expect(await add(one, files[2])).toBe(422);
    expect(await readUsage(app, 'lakes')).toBe(80);
    await app.ask('DELETE', `/api/v1/data-lakes/${one}/files/${files[0]}`);
    expect(await readUsage(app, 'lakes')).toBe(40);
    expect(await add(one, files[2])).toBe(first);
    for (const lake of [one, two]) await app.ask('DELETE', `/api/v1/data-lakes/${lake}`);
    await app.until(async () => (await readUsage(app, 'lakes')) === 0, true);
  });
});
