import { chat, followQuest, poll } from '@questline/client';
import * as operations from '@questline/client/operations';
import { ProviderError } from '@questline/core/ports';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createChatApp, sayAtOnce, silent } from '../../../test/support/chat.ts';
import { sleep } from '../src/wait.ts';
import {
  advancing,
  createAppClient,
  createAppFetch,
  createScriptedClient,
  eventResponse,
  json,
} from './support.ts';

const HELLO = { message: 'Hello', newConversation: true } as const;

async function createApp(options: Parameters<typeof createChatApp>[0] = {}) {
  const app = await createChatApp(options);
  onTestFinished(() => app.api.close());
  return app;
}

describe('chat', () => {
  it('waits for the answer and continues the conversation', async () => {
    const app = await createApp({ onCall: (call) => sayAtOnce(`Answer ${app.calls.length}.`)(call) });
    const client = createAppClient(app);
    const turn = await chat(client, HELLO);
    expect(await advancing(app, turn.result())).toMatchObject({
      id: turn.id,
      status: 'done',
      type: 'message',
      reply: 'Answer 1.',
    });
    const next = await chat(client, { message: 'More', sessionId: turn.sessionId });
    expect([next.sessionId, (await advancing(app, next.result())).reply]).toEqual([
      turn.sessionId,
      'Answer 2.',
    ]);
  });

  it('yields the growing answer from the events of the quest', async () => {
    const app = await createApp({ onCall: silent });
    const seen: string[] = [];
    const turn = await chat(createAppClient(app), HELLO);
    const reading = (async () => {
      for await (const { reply } of turn) seen.push(reply ?? '');
    })();
    const reach = (reply: string): Promise<void> =>
      advancing(
        app,
        vi.waitFor(() => expect(seen.at(-1)).toBe(reply), { timeout: 60_000, interval: 5 }),
      );
    await advancing(
      app,
      vi.waitFor(() => expect(app.calls).toHaveLength(1), { timeout: 60_000, interval: 5 }),
    );
    const [call] = app.calls;
    call?.say({ type: 'text', text: 'One ' });
    await reach('One ');
    call?.say({ type: 'text', text: 'two.' });
    await reach('One two.');
    call?.say({ type: 'usage', usage: { input: 1, output: 2 } }, { type: 'finish', reason: 'stop' });
    call?.end();
    await advancing(app, reading);
    expect([...new Set(seen)].filter((reply) => reply !== '')).toEqual(['One ', 'One two.']);
    expect((await advancing(app, turn.result())).promptMeta?.credits).toBeGreaterThan(0);
  });

  it('yields text once, also where the record was ahead of its events', async () => {
    const quest = { id: 'q', sessionId: 's', type: 'message', reply: 'One ', status: 'running' };
    const events = [
      { type: 'snapshot', text: '', state: quest },
      { type: 'text', text: 'One ' },
      { type: 'text', text: 'two.' },
      { type: 'end', state: { ...quest, reply: 'One two.', status: 'done' } },
    ];
    const { client } = createScriptedClient([
      json({ id: 'q', sessionId: 's' }),
      eventResponse(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')),
    ]);
    const seen: (string | null)[] = [];
    for await (const { reply } of await chat(client, HELLO)) seen.push(reply);
    expect(seen).toEqual([null, 'One ', 'One two.', 'One two.']);
  });

  it('polls a server without events, with growing delays, and yields each state once', async () => {
    const states = ['pending', 'pending', 'running', 'running', 'running', 'done'].map((status) => ({
      ...{ id: 'q', sessionId: 's', type: 'message', reply: null, status },
    }));
    const { client, waited } = createScriptedClient([
      json({ id: 'q', sessionId: 's' }),
      json({ error: 'not found' }, 404),
      ...states.map((s) => json(s)),
    ]);
    const seen: string[] = [];
    for await (const { status } of await chat(client, HELLO)) seen.push(status);
    expect(seen).toEqual(['pending', 'running', 'done']);
    expect(waited).toEqual([500, 750, 500, 750, 1125]);
  });

  it('rejects for a turn that ran out of credits, with its code and what it cost', async () => {
    const state = { id: 'q', sessionId: 's', status: 'done', type: 'error', reply: 'No credits.' };
    const { client } = createScriptedClient([
      json({ id: 'q', sessionId: 's' }),
      json({ error: 'not found' }, 404),
      json({ ...state, errorCode: 'insufficient_credits', promptMeta: { model: 'm', credits: 2 } }),
    ]);
    const turn = await chat(client, HELLO);
    await expect(turn.result()).rejects.toMatchObject({
      message: 'No credits.',
      code: 'insufficient_credits',
      charge: { credits: 2 },
    });
  });

  it('rejects for a turn that failed, with what it cost', async () => {
    const app = await createApp({
      onCall: (call) => call.fail(new ProviderError('failed', 'text of the provider')),
    });
    const turn = await chat(createAppClient(app), HELLO);
    await expect(advancing(app, turn.result())).rejects.toMatchObject({
      name: 'QuestlineError',
      charge: { credits: 0 },
      body: { id: turn.id, type: 'error' },
    });
    // The loop shows the state and leaves the judgement to the reader.
    const seen: string[] = [];
    await advancing(
      app,
      (async () => {
        for await (const { type } of turn) seen.push(type);
      })(),
    );
    expect(seen.at(-1)).toBe('error');
  });

  it('can be cancelled, and resolves with what there was', async () => {
    const app = await createApp({ onCall: silent });
    const turn = await chat(createAppClient(app), HELLO);
    await vi.waitFor(() => expect(app.calls).toHaveLength(1), { timeout: 60_000 });
    await turn.cancel();
    expect(await advancing(app, turn.result())).toMatchObject({ status: 'stopped' });
    await app.calls[0]?.whenStopped;
  });

  it('ends its waiting when it is aborted, and the turn goes on', async () => {
    const app = await createApp({ onCall: silent });
    const controller = new AbortController();
    const reason = new Error('left');
    const turn = await chat(createAppClient(app), HELLO, { signal: controller.signal });
    const result = turn.result();
    await vi.waitFor(() => expect(app.calls).toHaveLength(1), { timeout: 60_000 });
    controller.abort(reason);
    await expect(advancing(app, result)).rejects.toBe(reason);
    expect(app.calls[0]?.stopped).toBe(false);
    // After a reload, the id is enough.
    sayAtOnce('Hello.')(app.calls[0] as never);
    const replies: (string | null)[] = [];
    await advancing(
      app,
      (async () => {
        for await (const { reply } of followQuest(createAppClient(app), turn.id)) replies.push(reply);
      })(),
    );
    expect(replies.at(-1)).toBe('Hello.');
  });

  it('survives an outage while it waits', async () => {
    const app = await createApp();
    const send = createAppFetch(app);
    let outages = 0;
    const client = createAppClient(app, {
      retries: 0,
      fetch(url, init) {
        if (init.method !== 'GET' || outages >= 8) return send(url, init);
        outages += 1;
        return outages % 2 === 0 ? Promise.reject(new TypeError('offline')) : Promise.resolve(json({}, 502));
      },
    });
    const turn = await chat(client, HELLO);
    expect((await advancing(app, turn.result())).reply).toBe('Hello.');
    expect(outages).toBe(8);
  });

  it('gives up an outage that does not end', async () => {
    const offline = Array.from({ length: 20 }, () => new TypeError('offline'));
    const { client, sent } = createScriptedClient(offline, { retries: 0 });
    await expect(followQuest(client, 'q').next()).rejects.toMatchObject({ code: 'network_error' });
    expect(sent).toHaveLength(11);
  });

  it('does not wait for a quest that is gone', async () => {
    const { client, waited } = createScriptedClient([
      json({ error: 'Quest not found' }, 404),
      json({ error: 'Quest not found' }, 404),
    ]);
    await expect(followQuest(client, 'q').next()).rejects.toMatchObject({ status: 404 });
    expect(waited).toEqual([]);
  });
});

describe('poll', () => {
  it('follows a job of any kind', async () => {
    const states = ['pending', 'running', 'succeeded'].map((state) => ({ id: 'v', state }));
    const { client } = createScriptedClient(states.map((state) => json(state)));
    const isFinal = ({ state }: { readonly state: string }): boolean => state === 'succeeded';
    const seen: string[] = [];
    for await (const { state } of poll(
      client,
      operations.getVideoGeneration,
      { params: { id: 'v' } },
      { isFinal },
    ))
      seen.push(state);
    expect(seen).toEqual(['pending', 'running', 'succeeded']);
  });
});

describe('the timer between polls', () => {
  afterEach(() => void vi.useRealTimers());

  it('is cleared by an abort, and leaves no listener behind', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const controller = new AbortController();
    const remove = vi.spyOn(controller.signal, 'removeEventListener');
    const done = sleep(1000, controller.signal);
    vi.advanceTimersByTime(1000);
    await done;
    expect(remove).toHaveBeenCalledTimes(1);
    const waiting = sleep(1000, controller.signal);
    controller.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    await expect(sleep(1000, controller.signal)).rejects.toThrow('left');
    expect(vi.getTimerCount()).toBe(0);
  });
});
