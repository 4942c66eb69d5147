import { type Client, chat, checkQuest, followQuest, type Quest } from '@questline/client';
import { describe, expect, it } from 'vitest';
import { createScriptedClient, eventResponse, json } from './support.ts';

const QUEST = { id: 'q', sessionId: 's', type: 'message', reply: null, status: 'running' } as Quest;
const DONE = { ...QUEST, status: 'done', reply: 'All.' } as const;
const HELLO = { message: 'Hello', newConversation: true } as const;

const events = (...list: readonly object[]): Response =>
  eventResponse(list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));

async function read(states: AsyncIterable<Quest>): Promise<[string, string | null | undefined][]> {
  const seen: [string, string | null | undefined][] = [];
  for await (const { status, reply } of states) seen.push([status, reply]);
  return seen;
}

const follow = (...list: readonly object[]) =>
  read(followQuest(createScriptedClient([events(...list)]).client, 'q'));

describe('the states of a quest', () => {
  it('begin with its record, and end with the last state', async () => {
    expect(
      await follow({ type: 'snapshot', text: 'Al', state: QUEST }, { type: 'end', state: DONE }),
    ).toEqual([
      ['running', 'Al'],
      ['done', 'All.'],
    ]);
  });

  it.each(['done', 'stopped'] as const)('have the reply of a record that is %s', async (status) => {
    const state = { ...QUEST, status, reply: 'All.' };
    expect(await follow({ type: 'snapshot', text: '', state }, { type: 'end', state })).toEqual([
      [status, 'All.'],
      [status, 'All.'],
    ]);
  });

  it('grow with text, which a step can replace', async () => {
    const pending = { ...QUEST, status: 'pending' };
    expect(
      await follow(
        { type: 'snapshot', text: '', state: pending },
        { type: 'text', text: 'One ' },
        { type: 'text', text: 'two' },
        { type: 'reset-step', text: 'One ' },
        { type: 'text', text: 'three' },
        { type: 'end', state: DONE },
      ),
    ).toEqual([
      ['pending', null],
      ['running', 'One '],
      ['running', 'One two'],
      ['running', 'One '],
      ['running', 'One three'],
      ['done', 'All.'],
    ]);
  });

  it('do not change by other events, nor before the record', async () => {
    expect(
      await follow(
        { type: 'text', text: 'early' },
        { type: 'reset-step', text: 'early' },
        { type: 'snapshot', text: 'One', state: QUEST },
        { type: 'later', text: 'unread' },
        { type: 'end', state: DONE },
      ),
    ).toEqual([
      ['running', 'One'],
      ['done', 'All.'],
    ]);
  });

  it('are polled only if the server does not know their events', async () => {
    for (const status of [401, 403]) {
      const { client, sent } = createScriptedClient([json({ error: 'no' }, status)]);
      await expect(followQuest(client, 'q').next()).rejects.toMatchObject({ status });
      expect(sent).toHaveLength(1);
    }
    const lost = createScriptedClient([
      events({ type: 'snapshot', text: '', state: QUEST }),
      json({ error: 'Quest not found' }, 404),
    ]);
    await expect(read(followQuest(lost.client, 'q'))).rejects.toMatchObject({ status: 404 });
    expect(lost.sent).toHaveLength(2);
  });

  it.each(['done', 'stopped'])('end when a poll finds it %s', async (status) => {
    const { client, sent } = createScriptedClient([
      json({ error: 'not found' }, 404),
      json({ ...QUEST, status }),
    ]);
    expect(await read(followQuest(client, 'q'))).toEqual([[status, null]]);
    expect(sent).toHaveLength(2);
  });

  it('are polled until the reader is aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('left');
    const { client } = createScriptedClient([json({ error: 'not found' }, 404), json(QUEST), json(DONE)]);
    const states = followQuest(client, 'q', { signal: controller.signal });
    expect((await states.next()).value).toEqual(QUEST);
    controller.abort(reason);
    await expect(states.next()).rejects.toBe(reason);
  });
});

describe('a turn', () => {
  it('is sent without a wait, and stopped by its id', async () => {
    const { client, sent } = createScriptedClient([json({ id: 'q', sessionId: 's' }), json(DONE)]);
    const turn = await chat(client, HELLO);
    expect([turn.id, turn.sessionId]).toEqual(['q', 's']);
    expect(JSON.parse(String(sent[0]?.init.body))).toEqual({ ...HELLO, wait: false });
    expect(await turn.cancel()).toEqual(DONE);
    expect(sent[1]?.url).toMatch(/\/q\/cancel$/);
  });

  it('has the options of its call', async () => {
    const { client, sent } = createScriptedClient([json({ id: 'q', sessionId: 's' })]);
    await chat(client, HELLO, { headers: { 'x-tenant': 'a' }, idempotencyKey: 'k' });
    expect(sent[0]?.headers.get('x-tenant')).toBe('a');
    expect(sent[0]?.headers.get('idempotency-key')).toBe('k');
  });

  it('cannot be cancelled with a signal that has ended', async () => {
    const controller = new AbortController();
    const { client } = createScriptedClient([json({ id: 'q', sessionId: 's' }), json(DONE)]);
    const turn = await chat(client, HELLO, { signal: controller.signal });
    const reason = new Error('left');
    controller.abort(reason);
    await expect(turn.cancel()).rejects.toBe(reason);
  });

  it('has no result without a state', async () => {
    const { client } = createScriptedClient([
      json({ id: 'q', sessionId: 's' }),
      new Response(null, { status: 204 }),
    ]);
    const turn = await chat(client as Client, HELLO);
    await expect(turn.result()).rejects.toThrow(new TypeError('quest q has no state'));
  });
});

describe('the result of a turn', () => {
  it('is the quest, unless that has failed', () => {
    for (const quest of [DONE, QUEST, { ...QUEST, type: 'error' } as Quest])
      expect(checkQuest(quest)).toBe(quest);
  });

  it('is an error with all that the quest says', () => {
    const failed = {
      ...DONE,
      type: 'error',
      errorCode: 'provider_overloaded',
      providerError: { status: 529, retryAfter: 7 },
      promptMeta: { model: 'm', credits: 2 },
    } as unknown as Quest;
    expect(() => checkQuest(failed)).toThrow(
      expect.objectContaining({
        message: 'All.',
        code: 'provider_overloaded',
        charge: { credits: 2 },
        provider: { status: 529, retryAfter: 7 },
        retryAfter: 7,
        body: failed,
      }),
    );
    const silent = { ...DONE, type: 'error', reply: null } as Quest;
    expect(() => checkQuest(silent)).toThrow(
      expect.objectContaining({
        message: 'The turn failed.',
        code: undefined,
        charge: { credits: 0 },
        provider: undefined,
        retryAfter: undefined,
      }),
    );
  });
});
