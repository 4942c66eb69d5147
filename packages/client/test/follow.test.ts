import { chat, type EventStream, follow, type Operation } from '@questline/client';
import { getQuestEvents } from '@questline/client/operations';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createChatApp } from '../../../test/support/chat.ts';
import {
  advancing,
  createAppClient,
  createAppFetch,
  createScriptedClient,
  eventResponse,
  json,
} from './support.ts';

type Event =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'end'; readonly state: { readonly reply: string } };

const EVENTS: Operation<{ readonly params: { readonly id: string } }, EventStream<Event> | undefined> = {
  id: 'events',
  method: 'GET',
  path: '/api/v1/quests/{id}/events',
};
const WORDS = ['Grüße ', '\u{1F600} ', 'a\n\nb ', 'end'];
const TEXT = WORDS.join('');
const input = { params: { id: 'q' } };

/** The rest of the stream after an event, as the server sends it. */
function getRest(after: string | null): string {
  if (after === 'end') return '';
  const from = after === null ? 0 : Number(after);
  const events = WORDS.slice(from).map(
    (text, index) => `id: ${from + index + 1}\ndata: ${JSON.stringify({ type: 'text', text })}\n\n`,
  );
  const end = `id: end\ndata: ${JSON.stringify({ type: 'end', state: { reply: TEXT } })}\n\n`;
  return [': keep-alive\n\n', ...events, end].join('');
}

/** A server whose connections break off after a number of bytes; the last one repeats without a break. */
function createServer(cuts: readonly number[]) {
  const asked: (string | null)[] = [];
  const { client, waited } = createScriptedClient([], {
    async fetch(_, init) {
      const after = new Headers(init.headers).get('last-event-id');
      const cut = cuts[asked.length];
      asked.push(after);
      const text = getRest(after);
      if (cut === undefined) return eventResponse(text, { length: 7 });
      return eventResponse(text, { length: 7, failure: new TypeError('terminated'), cut });
    },
    wait: async () => undefined,
  });
  return { client, asked, waited };
}

async function read(
  cuts: readonly number[],
): Promise<{ text: string; ends: number; asked: (string | null)[] }> {
  const { client, asked } = createServer(cuts);
  let text = '';
  let ends = 0;
  for await (const event of follow(client, EVENTS, input)) {
    if (event.type === 'text') text += event.text;
    else ends += 1;
  }
  return { text, ends, asked };
}

/** Breaks a response off after a number of bytes. */
function cutOff(response: Response, bytes: number): Response {
  let left = bytes;
  const cut = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (chunk.length < left) controller.enqueue(chunk);
      else controller.error(new TypeError('terminated'));
      left -= chunk.length;
    },
  });
  return new Response(response.body?.pipeThrough(cut) ?? null, response);
}

describe('the events of a quest', () => {
  it('join to the same answer, with one call of the model and one charge, over broken connections', async () => {
    const words = Array.from({ length: 30 }, (_, index) => `w${index} `);
    const app = await createChatApp({
      async onCall(call) {
        for (const text of words) call.say({ type: 'text', text });
        call.say({ type: 'usage', usage: { input: 1, output: 30 } }, { type: 'finish', reason: 'stop' });
        call.end();
      },
    });
    onTestFinished(() => app.api.close());
    const send = createAppFetch(app);
    let connections = 0;
    const client = createAppClient(app, {
      async fetch(url, init) {
        const response = await send(url, init);
        if (!url.endsWith('/events') || connections >= 8) return response;
        connections += 1;
        return cutOff(response, 100 * connections);
      },
    });
    const turn = await chat(client, { message: 'Hello', newConversation: true });
    let text = '';
    let end: unknown;
    const read = async (): Promise<void> => {
      for await (const event of follow(client, getQuestEvents, { params: { id: turn.id } })) {
        if (event.type === 'text') text += event.text;
        else if (event.type === 'snapshot' || event.type === 'reset-step') text = event.text;
        else if (event.type === 'end') end = event.state;
      }
    };
    await advancing(app, read());
    expect([connections, text, app.calls.length]).toEqual([8, words.join(''), 1]);
    expect(end).toMatchObject({
      status: 'done',
      reply: words.join(''),
      promptMeta: { credits: 0.31 },
    });
    const balance = await app.ledger.balance(app.account);
    expect([balance.held, balance.posted]).toEqual([0, 999_690_000]);
  });
});

describe('follow', () => {
  it('has every event once, wherever the connection breaks off', async () => {
    const { length } = Buffer.from(getRest(null));
    for (let cut = 0; cut <= length; cut += 1) {
      const { text, ends, asked } = await read([cut, cut, 40]);
      expect({ text, ends }).toEqual({ text: TEXT, ends: 1 });
      expect(asked[0]).toBeNull();
    }
  });

  it('goes on after the last whole event', async () => {
    const first = Buffer.from(getRest(null).slice(0, getRest(null).indexOf('id: 3'))).length;
    const { asked } = await read([first + 10, 0]);
    expect(asked).toEqual([null, '2', '2']);
  });

  it('begins after an event that the reader has, and ends at once if that is the last one', async () => {
    const { client, asked } = createServer([]);
    const texts: string[] = [];
    for await (const event of follow(client, EVENTS, input, { after: '3' }))
      if (event.type === 'text') texts.push(event.text);
    expect([texts, asked]).toEqual([['end'], ['3']]);
    const done = createScriptedClient([new Response(null, { status: 204 })]);
    for await (const _ of follow(done.client, EVENTS, input, { after: 'end' })) expect.unreachable();
  });

  it('gives up when the server stays away, and at once when it refuses', async () => {
    const offline = Array.from({ length: 20 }, () => new TypeError('offline'));
    const away = createScriptedClient(offline, { retries: 0 });
    await expect(follow(away.client, EVENTS, input).next()).rejects.toMatchObject({ code: 'network_error' });
    expect(away.waited).toEqual([500, 1000, 2000, 4000, ...Array(6).fill(5000)]);
    const refusing = createScriptedClient([json({ error: 'no' }, 404)]);
    await expect(follow(refusing.client, EVENTS, input).next()).rejects.toMatchObject({ status: 404 });
  });

  it('goes on after a head that broke off within its status, as Chromium reports it', async () => {
    const broken = Object.defineProperty(new Response(''), 'status', { value: 20 });
    const { client } = createScriptedClient([broken, eventResponse(getRest(null))], { retries: 0 });
    let text = '';
    for await (const event of follow(client, EVENTS, input)) if (event.type === 'text') text += event.text;
    expect(text).toBe(TEXT);
  });

  it('ends when it is aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('left');
    const { client } = createServer([30]);
    const events = follow(client, EVENTS, input, { signal: controller.signal });
    controller.abort(reason);
    await expect(events.next()).rejects.toBe(reason);
  });
});
