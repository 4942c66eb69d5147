import { type HostEvent, issueApiKey, revokeApiKey, USERS } from '@questline/core';
import { EVENT_OUTBOX } from '@questline/core/internal';
import { ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createChatApp } from '../support/chat.ts';
import { createExecutionApp } from '../support/execution.ts';
import { createFileApp } from '../support/files.ts';
import { createGenerationApp, createVideoStudio, done } from '../support/generations.ts';
import { createScriptedProvider } from '../support/model.ts';
import { makeSession } from '../support/owned-resources.ts';
import { addOrganization } from '../support/people.ts';
import { EICAR } from '../support/samples.ts';
import { callAs, shareWith } from '../support/sharing.ts';
import { createBreakableStore, createCountingStore } from '../support/store.ts';
import { createTestApp, NOW } from '../support/test-app.ts';

const EVENT_ID = expect.stringMatching(/^evt_[0-9a-f]{24}$/);

/** A host that records received events. */
function createListener() {
  const heard: HostEvent[] = [];
  const types = (prefix = ''): string[] =>
    heard.map(({ type }) => type).filter((type) => type.startsWith(prefix));
  return { heard, types, onEvent: (event: HostEvent) => void heard.push(event) };
}

function find<T extends HostEvent['type']>(heard: readonly HostEvent[], type: T) {
  return heard.filter((event): event is Extract<HostEvent, { type: T }> => event.type === type);
}

describe('events for the host', () => {
  it('reports a turn, its charge, the user and the key, each once, with ids and amounts', async () => {
    const { heard, onEvent } = createListener();
    const app = await createChatApp({ settings: { admin: { DefaultAPIModel: 'scripted' }, onEvent } });
    const { body } = await app.chat({ message: 'Hi' }, { headers: { 'X-Request-ID': 'r-1' } });
    await app.settle();

    const owner = { userId: app.user.id };
    expect(find(heard, 'user.created')).toEqual([
      { id: EVENT_ID, type: 'user.created', createdAt: NOW, data: { id: app.user.id, ...owner } },
    ]);
    expect(find(heard, 'key.created').map(({ data }) => data)).toEqual([{ id: app.keyId, ...owner }]);
    expect(find(heard, 'quest.done').map(({ data }) => data)).toEqual([
      { id: body.id, sessionId: body.sessionId ?? expect.any(String), kind: 'chat', ...owner },
    ]);
    const [charge] = await app.ledger.charges({ account: app.account }, 10);
    expect(find(heard, 'charge.settled').map(({ data }) => data)).toEqual([
      {
        id: expect.any(String),
        account: app.account,
        ...owner,
        keyId: app.keyId,
        operation: 'sendChatMessage',
        model: 'scripted',
        requestId: 'r-1',
        usage: { input: 10, output: 1 },
        amount: charge?.amount,
        credits: (charge?.amount ?? 0) / 1e6,
      },
    ]);
    expect(new Set(heard.map(({ id }) => id)).size).toBe(heard.length);
    expect(app.incidents).toEqual([]);
  });

  it('reports a turn that fails, and one that is cancelled once', async () => {
    const { heard, types, onEvent } = createListener();
    const app = await createChatApp({
      settings: { admin: { DefaultAPIModel: 'scripted' }, onEvent },
      onCall: (call) => {
        if (JSON.stringify(call.request.messages).includes('fail'))
          call.fail(new ProviderError('invalid_request', 'broken'));
      },
    });
    await app.chat({ message: 'fail' });
    const { body } = await app.chat({ message: 'wait for me' });
    await app.settle();
    await app.json('POST', `/api/v1/quests/${body.id}/cancel`);
    await app.json('POST', `/api/v1/quests/${body.id}/cancel`);
    await app.settle();
    expect(types('quest.').sort()).toEqual(['quest.failed', 'quest.stopped']);
    expect(find(heard, 'quest.failed')[0]?.data.errorCode).toEqual(expect.any(String));
    expect(find(heard, 'quest.stopped')[0]?.data.id).toBe(body.id);
  });

  it('reports agent runs as executions only', async () => {
    const runs = createListener();
    const app = await createExecutionApp({
      settings: { admin: { DefaultAPIModel: 'scripted' }, onEvent: runs.onEvent },
    });
    const { body } = await app.run();
    await app.settle();
    expect(find(runs.heard, 'execution.done').map(({ data }) => data.id)).toEqual([body.id]);
    expect(runs.types('quest.')).toEqual([]);
  });

  it('reports a completed video and a cancelled one', async () => {
    const media = createListener();
    const studio = createVideoStudio();
    const app = await createGenerationApp(studio, { settings: { onEvent: media.onEvent } });
    const made = await app.video();
    const cancelled = await app.video();
    await app.settle();
    await app.json('POST', `/api/v1/video-generations/${cancelled.body.id}/cancel`);
    const [job] = studio.videos.all;
    if (job === undefined) throw new Error('no job');
    done(job);
    await app.pollsPass(3);
    expect(find(media.heard, 'generation.done').map(({ data }) => data)).toEqual([
      {
        id: made.body.id,
        kind: 'video',
        model: 'director',
        userId: app.user.id,
        fileId: expect.stringMatching(/^[0-9a-f]{24}$/),
      },
    ]);
    expect(find(media.heard, 'generation.stopped').map(({ data }) => data.id)).toEqual([cancelled.body.id]);
  });

  it('reports checked files, revoked keys and accepted invites once', async () => {
    const { heard, onEvent } = createListener();
    const files = await createFileApp({ settings: { onEvent } });
    const clean = await files.upload('hello');
    const blocked = await files.upload(EICAR);
    await files.settle();
    expect(find(heard, 'file.clean').map(({ data }) => data)).toEqual([
      { id: clean.id, userId: files.user.id },
    ]);
    expect(find(heard, 'file.blocked').map(({ data }) => data.id)).toEqual([blocked.id]);

    const { record } = await issueApiKey(files.services, {
      userId: files.user.id,
      name: 'x',
      scopes: ['me:read'],
    });
    await revokeApiKey(files.services, files.user.id, record.id, 'private words');
    await revokeApiKey(files.services, files.user.id, record.id);
    await files.settle();
    expect(find(heard, 'key.revoked').map(({ data }) => data)).toEqual([
      { id: record.id, userId: files.user.id },
    ]);

    // The organization that pays for a key also hears of it.
    const { id: organizationId } = await addOrganization(files);
    const paid = await files.issue({ organizationId });
    await revokeApiKey(files.services, files.user.id, paid.record.id);
    await files.settle();
    const data = { id: paid.record.id, userId: files.user.id, organizationId };
    for (const type of ['key.created', 'key.revoked'] as const)
      expect(find(heard, type).at(-1)?.data).toEqual(data);

    const grace = await files.addUser('grace@example.com');
    const sessionId = await makeSession(files, files.user);
    await shareWith(files, files.user, `session/${sessionId}`, grace);
    await files.settle();
    expect(find(heard, 'invite.accepted').map(({ data }) => data)).toEqual([
      {
        id: expect.any(String),
        userId: grace.id,
        resourceType: 'session',
        resourceId: sessionId,
        invitedBy: files.user.id,
      },
    ]);
    expect(JSON.stringify(heard)).not.toMatch(/private words|svc_live|example\.com/);
  });

  it('does not report a change that is rolled back', async () => {
    const { heard, onEvent } = createListener();
    const app = await createTestApp({ settings: { onEvent } });
    await app.api.start();
    const failing = app.services.store.transaction(async (inner) => {
      await inner.collection(USERS).insert({ ...app.user, id: 'f'.repeat(24), email: 'x@example.com' });
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    await app.settle();
    expect(find(heard, 'user.created').map(({ data }) => data.id)).toEqual([app.user.id]);
  });

  it('charges an organization, and reports it as the owner', async () => {
    const { heard, onEvent } = createListener();
    const app = await createChatApp({ settings: { admin: { DefaultAPIModel: 'scripted' }, onEvent } });
    const created = await callAs(app, app.user, 'POST', '/api/organizations', { name: 'Lab' });
    const organizationId: string = created.body._id;
    const account = `organization:${organizationId}`;
    await app.ledger.grant({ account, amount: 1e9, key: 'start', reason: 'start' });
    const { key } = await app.issue({ scopes: ['ai:chat'], organizationId });
    await app.chat({ message: 'Hi' }, { credential: key });
    await app.settle();
    expect(
      find(heard, 'charge.settled').map(({ data }) => [data.account, data.organizationId, data.userId]),
    ).toEqual([[account, organizationId, app.user.id]]);
    expect(find(heard, 'quest.done')[0]?.data.organizationId).toBe(organizationId);
  });
});

describe('delivery of events', () => {
  it('repeats an event with the same id while the handler rejects, and requests are not affected', async () => {
    const attempts = new Map<string, number>();
    let isAway = true;
    const app = await createChatApp({
      settings: {
        admin: { DefaultAPIModel: 'scripted' },
        onEvent: async ({ id, type }) => {
          attempts.set(`${type} ${id}`, (attempts.get(`${type} ${id}`) ?? 0) + 1);
          if (isAway) throw new Error('billing is away');
        },
      },
    });
    expect((await app.chat({ message: 'Hi' })).status).toBe(200);
    await app.settle();
    for (let second = 0; second < 600; second += 20) {
      await app.clock.advance(20_000);
      await app.settle();
    }
    isAway = false;
    const before = new Map(attempts);
    await app.clock.advance(600_000);
    await app.settle();
    expect([...attempts.keys()].map((key) => key.split(' ')[0]).sort()).toEqual([
      'charge.settled',
      'key.created',
      'quest.done',
      'user.created',
    ]);
    for (const [key, count] of before) {
      expect(count).toBeGreaterThan(3);
      expect(attempts.get(key)).toBe(count + 1);
    }
    expect(new Set(app.incidents.map(({ operation }) => operation))).toEqual(new Set(['onEvent']));
    await app.clock.advance(3_600_000);
    await app.settle();
    expect([...attempts.values()].reduce((sum, count) => sum + count)).toBe(
      [...before.values()].reduce((sum, count) => sum + count + 1, 0),
    );
  });

  it('repeats an event whose handler never answers, and delivers the others meanwhile', async () => {
    const heard: string[] = [];
    let hangs = 0;
    const app = await createChatApp({
      settings: {
        admin: { DefaultAPIModel: 'scripted' },
        async onEvent({ type }) {
          if (type === 'quest.done' && hangs++ === 0) await new Promise(() => undefined);
          heard.push(type);
        },
      },
    });
    await app.chat({ message: 'Hi' });
    await app.settle();
    expect(heard).toContain('charge.settled');
    expect(heard).not.toContain('quest.done');
    await app.clock.advance(31_000);
    await app.settle();
    await app.clock.advance(2000);
    await app.settle();
    expect(heard.filter((type) => type === 'quest.done')).toHaveLength(1);
  });

  it('gives an event up after 24 hours, reports it, keeps it for 30 days and delivers the others at once', async () => {
    const heard: string[] = [];
    const app = await createChatApp({
      settings: {
        admin: { DefaultAPIModel: 'scripted' },
        worker: { pollMs: 600_000, leaseMs: 3_600_000 },
        onEvent({ type }) {
          if (type === 'key.created') throw new Error('poison');
          heard.push(type);
        },
      },
    });
    const outbox = app.services.store.collection(EVENT_OUTBOX);
    const pass = async (minutes: number): Promise<void> => {
      for (let minute = 0; minute < minutes; minute += 10) {
        await app.clock.advance(600_000);
        await app.settle();
      }
    };
    await app.settle();
    expect(heard).toEqual(['user.created']);
    await pass(23 * 60);
    expect(await outbox.find({})).toMatchObject([{ failingSince: NOW, event: { type: 'key.created' } }]);
    await app.addUser('grace@example.com');
    await app.settle();
    expect(heard).toEqual(['user.created', 'user.created']);
    await pass(2 * 60);
    const [failed] = await outbox.find({});
    expect(failed).toMatchObject({ event: { type: 'key.created' }, failedAt: expect.any(Number) });
    const last = String(app.incidents.at(-1)?.error);
    expect(last).toContain(`${failed?.event?.id} (key.created) is not delivered`);
    const reports = app.incidents.length;
    await pass(2 * 60);
    expect(app.incidents).toHaveLength(reports);
    expect((await app.services.queue.counts()).delayed).toBe(0);
    const { id = '', failedAt = 0, checkAt = 0 } = failed ?? {};
    expect(checkAt - failedAt).toBe(30 * 86_400_000);
    // Advancing the clock by 30 days runs all periodic tasks.
    await outbox.update(id, { checkAt: app.clock.now() });
    await pass(40);
    expect(await outbox.count({})).toBe(0);
  });

  it('delivers a new event while repetitions of many others hang', async () => {
    const heard: string[] = [];
    let calls = 0;
    const app = await createChatApp({
      settings: {
        admin: { DefaultAPIModel: 'scripted' },
        async onEvent({ type }) {
          calls += 1;
          if (type === 'user.created') await new Promise(() => undefined);
          heard.push(type);
        },
      },
    });
    for (let user = 0; user < 40; user += 1) await app.addUser(`user-${user}@example.com`);
    // Every event has failed once, and the maximum of handlers hangs again.
    for (let second = 0; second < 150; second += 1) await app.clock.advance(1000);
    expect(calls).toBeGreaterThan(50);
    const before = heard.length;
    await app.chat({ message: 'Hi' });
    await app.settle();
    expect(heard.slice(before).sort()).toEqual(['charge.settled', 'quest.done']);
  });

  it('finds an event whose job was not enqueued', async () => {
    const { types, onEvent } = createListener();
    const app = await createChatApp({
      settings: { admin: { DefaultAPIModel: 'scripted' }, onEvent },
      services: (services) => services,
      started: false,
    });
    const { queue } = app.services;
    const enqueue = queue.enqueue.bind(queue);
    queue.enqueue = (job, options) =>
      job.kind === 'deliver-event' ? Promise.reject(new Error('away')) : enqueue(job, options);
    await app.addUser('grace@example.com');
    await app.settle();
    queue.enqueue = enqueue;
    await app.api.start();
    await app.clock.advance(120_000);
    await app.settle();
    expect(types('user.')).toEqual(['user.created', 'user.created']);
  });
});

describe('store failure', () => {
  it('does not prevent the charge of a completion', async () => {
    const store = createBreakableStore();
    const provider = createScriptedProvider((call) => {
      call.say({ type: 'text', text: 'Hello' }, { type: 'usage', usage: { input: 5, output: 9 } });
      call.end();
    });
    const settings = { onEvent: () => undefined };
    const app = await createTestApp({ models: [provider], settings, store: store.wrap });
    const body = { model: 'scripted', messages: [{ role: 'user', content: 'Hi' }] };
    const ask = async (): Promise<void> => {
      await (await app.ask('POST', '/api/ai/v1/completions', { body })).text();
      await app.settle();
    };
    // The first call loads the key, its user and the settings into caches.
    await ask();
    store.failure = new Error('the store is away');
    await ask();
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.map(({ status }) => status)).toEqual(['settled', 'settled']);
    expect(app.incidents.map(({ operation }) => operation)).toContain('events');
  });
});

describe('low credit', () => {
  it('is reported once when a charge leaves less than the limit, and again after a grant', async () => {
    const { heard, onEvent } = createListener();
    const app = await createChatApp({
      credits: 210,
      settings: { admin: { DefaultAPIModel: 'scripted' }, onEvent, creditsLowAt: 209.8 },
    });
    const turn = async (): Promise<void> => {
      await app.chat({ message: 'Hi' });
      await app.settle();
    };
    await turn();
    expect(find(heard, 'credits.low')).toEqual([]);
    await turn();
    await turn();
    expect(find(heard, 'credits.low').map(({ data }) => data)).toEqual([
      { id: app.account, userId: app.user.id, available: 209_780_000, credits: 209.78 },
    ]);
    await app.services.ledger.grant({ account: app.account, amount: 1, key: 'more', reason: 'more' });
    await turn();
    expect(find(heard, 'credits.low')).toHaveLength(2);
    expect(new Set(find(heard, 'credits.low').map(({ id }) => id)).size).toBe(2);
  });
});

describe('host without event receivers', () => {
  it('makes no store call for a completion, and writes no event', async () => {
    const complete = async (settings: object) => {
      const store = createCountingStore();
      const provider = createScriptedProvider((call) => {
        call.say({ type: 'text', text: 'Hello' }, { type: 'usage', usage: { input: 5, output: 9 } });
        call.end();
      });
      const app = await createTestApp({ models: [provider], settings, store: store.wrap });
      await app.settle();
      const body = { model: 'scripted', messages: [{ role: 'user', content: 'Hi' }] };
      const ask = async (): Promise<void> => {
        await (await app.ask('POST', '/api/ai/v1/completions', { body })).text();
        await app.settle();
      };
      // The first call loads the key, its user and the settings into caches.
      await ask();
      store.calls = 0;
      await ask();
      const { calls } = store;
      return { calls, events: await app.services.store.collection(EVENT_OUTBOX).count({}) };
    };
    const without = await complete({});
    const withHandler = await complete({ onEvent: () => undefined });
    console.info(
      `store calls of a completion: ${without.calls} without onEvent, ${withHandler.calls} with it`,
    );
    expect(without).toEqual({ calls: 0, events: 0 });
    // A user, a key and two charges: they stay because no worker runs here.
    expect(withHandler.events).toBe(4);
    expect(withHandler.calls).toBeGreaterThan(0);
  });
});
