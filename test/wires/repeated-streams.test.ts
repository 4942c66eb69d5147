import { createAnthropicApi } from '@questline/anthropic';
import type { Mountable } from '@questline/core';
import { createOpenAIApi } from '@questline/openai';
import { describe, expect, it, vi } from 'vitest';
import { type ChatApp, createChatApp, silent } from '../support/chat.ts';
import type { ModelCall } from '../support/model.ts';
import { withVendorTypes } from '../support/vendor-types/check-wire.ts';
import { toHandler } from './app.ts';

const MESSAGES = [{ role: 'user', content: 'Weather?' }];

interface Streaming {
  readonly name: string;
  readonly path: string;
  readonly body: object;
  readonly toApi: (app: ChatApp) => Mountable;
  readonly mountPath: string;
  /** Status of a reused key. */
  readonly reused: number;
}

const WIRES: readonly Streaming[] = [
  {
    name: 'completions',
    path: '/api/ai/v1/completions',
    body: { model: 'scripted', messages: MESSAGES },
    toApi: ({ api }) => api,
    mountPath: '',
    reused: 422,
  },
  {
    name: 'chat completions',
    path: '/openai/v1/chat/completions',
    body: { model: 'scripted', messages: MESSAGES, stream: true, stream_options: { include_usage: true } },
    toApi: ({ services }) => withVendorTypes('openai', createOpenAIApi(services)),
    mountPath: '/openai',
    reused: 400,
  },
  {
    name: 'responses',
    path: '/openai/v1/responses',
    body: { model: 'scripted', input: 'Weather?', stream: true, store: false },
    toApi: ({ services }) => withVendorTypes('openai', createOpenAIApi(services)),
    mountPath: '/openai',
    reused: 400,
  },
  {
    name: 'messages',
    path: '/anthropic/v1/messages',
    body: { model: 'scripted', messages: MESSAGES, max_tokens: 100, stream: true },
    toApi: ({ services }) => withVendorTypes('anthropic', createAnthropicApi(services)),
    mountPath: '/anthropic',
    reused: 400,
  },
];

async function open(wire: Streaming) {
  const app = await createChatApp({ started: false, onCall: silent });
  const handle = toHandler(wire.toApi(app), wire.mountPath);
  return {
    app,
    send: (body: object = wire.body, signal?: AbortSignal) =>
      handle(
        new Request(`http://questline.test${wire.path}`, {
          method: 'POST',
          headers: {
            Authorization: `Bearer ${app.key}`,
            'Content-Type': 'application/json',
            'Idempotency-Key': 'k1',
          },
          body: JSON.stringify(body),
          ...(signal !== undefined && { signal }),
        }),
      ),
    async nextCall(at = 0): Promise<ModelCall> {
      await vi.waitFor(() => expect(app.calls.length).toBeGreaterThan(at));
      const call = app.calls[at];
      if (call === undefined) throw new Error('no call');
      return call;
    },
    countCharges: async () =>
      (await app.ledger.charges({ account: app.account }, 10)).filter(({ status }) => status === 'settled')
        .length,
  };
}

/** Everything that a client keeps of a stream: texts, ids and numbers, in order, with joined texts. */
function summarize(text: string): string {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice(6))
    .join('\n');
}

/** The joined increments of the text. */
function readText(text: string): string {
  return [...text.matchAll(/"(?:text|content|delta)":"((?:[^"\\]|\\.)*)"/g)].map(([, part]) => part).join('');
}

describe.each(WIRES)('a repeated stream of $name', (wire) => {
  it('is the first answer, called and charged once', async () => {
    const { app, send, nextCall, countCharges } = await open(wire);
    const first = send();
    const call = await nextCall();
    const early = await send();
    expect(early.status).toBe(409);
    expect(early.headers.get('retry-after')).toBe('1');
    call.say({ type: 'text', text: 'Rain, ' });
    call.say({ type: 'text', text: 'at noon.' });
    call.say({ type: 'tool_use', id: 't1', name: 'weather', arguments: '{"city":"Oslo"}' });
    call.say({ type: 'usage', usage: { input: 10, output: 3 } }, { type: 'finish', reason: 'tool_use' });
    call.end();
    const live = await first;
    expect(live.headers.get('idempotent-replayed')).toBeNull();
    const text = await live.text();
    expect(text).toContain('Rain, ');

    const repeated = await send();
    expect([repeated.status, repeated.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(repeated.headers.get('content-type')).toBe(live.headers.get('content-type'));
    const copy = await repeated.text();
    expect(readText(copy)).toContain('Rain, at noon.');
    const getIds = (source: string) =>
      new Set(summarize(source).match(/"(?:id|call_id|requestId)":"[^"]+"/g));
    expect(getIds(copy)).toEqual(getIds(text));
    const getUsage = (source: string) =>
      summarize(source)
        .match(/"usage":\{[^}]*\}/g)
        ?.at(-1);
    expect(getUsage(copy)).toEqual(getUsage(text));
    expect(copy).toContain('Oslo');

    expect((await send({ ...wire.body, temperature: 0.5 })).status).toBe(wire.reused);
    expect(app.calls).toHaveLength(1);
    expect(await countCharges()).toBe(1);
  });

  it('is refused for as long as the first one runs', async () => {
    const { app, send, nextCall, countCharges } = await open(wire);
    const first = send();
    const call = await nextCall();
    for (let minute = 0; minute < 40; minute += 1) {
      call.say({ type: 'text', text: 'Rain. ' });
      await app.clock.advance(60_000);
    }
    expect((await send()).status).toBe(409);
    call.say({ type: 'usage', usage: { input: 10, output: 3 } }, { type: 'finish', reason: 'stop' });
    call.end();
    await (await first).text();
    const repeated = await send();
    expect([repeated.status, repeated.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(app.calls).toHaveLength(1);
    expect(await countCharges()).toBe(1);
  });

  it('is refused after a client has left, because the first was charged', async () => {
    const { app, send, nextCall, countCharges } = await open(wire);
    const leaving = new AbortController();
    const first = send(wire.body, leaving.signal);
    const call = await nextCall();
    call.say({ type: 'text', text: 'Rain, ' });
    const reader = (await first).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    leaving.abort();
    await call.whenStopped;
    await vi.waitFor(async () => expect(await countCharges()).toBe(1));
    await vi.waitFor(async () => expect(await (await send()).text()).toContain('send another key'));
    const refused = await send();
    expect(refused.status).toBe(409);
    expect(refused.headers.get('x-should-retry')).toBe(wire.mountPath === '' ? null : 'false');
    expect(app.calls).toHaveLength(1);
  });

  it('is refused after an answer that broke off, and runs again after a failure before it', async () => {
    const { app, send, nextCall, countCharges } = await open(wire);
    const failing = send();
    (await nextCall()).fail(new Error('down'));
    await (await failing).text();
    expect(await countCharges()).toBe(0);
    const again = send();
    const call = await nextCall(1);
    call.say({ type: 'text', text: 'Rain, ' });
    call.fail(new Error('cut'));
    await (await again).text();
    expect(await countCharges()).toBe(1);
    expect((await send()).status).toBe(409);
    expect(app.calls).toHaveLength(2);
  });

  it('is refused for an answer that is too large to keep', async () => {
    const { app, send, nextCall } = await open(wire);
    const first = send();
    const call = await nextCall();
    call.say({ type: 'text', text: 'x'.repeat(2 ** 20) }, { type: 'usage', usage: { input: 1, output: 1 } });
    call.end();
    expect((await (await first).text()).length).toBeGreaterThan(2 ** 20);
    expect((await send()).status).toBe(409);
    expect(app.calls).toHaveLength(1);
  });
});

describe('a repeated answer without a stream', () => {
  it.each(WIRES.slice(1))('is refused after one that broke off: $name', async (wire) => {
    const { app, send, nextCall, countCharges } = await open(wire);
    const body = { ...wire.body, stream: false, stream_options: undefined };
    const first = send(body);
    const call = await nextCall();
    call.say({ type: 'text', text: 'Rain, ' });
    call.fail(new Error('cut'));
    expect((await first).status).toBeGreaterThanOrEqual(500);
    expect(await countCharges()).toBe(1);
    expect((await send(body)).status).toBe(409);
    expect(app.calls).toHaveLength(1);
  });
});

describe('a repeated stream that is stored', () => {
  it('is the first answer, also after its client has left', async () => {
    const [own] = WIRES;
    if (own === undefined) throw new Error('no wire');
    const wire = { ...own, body: { ...own.body, store: true } };
    const { app, send, nextCall, countCharges } = await open(wire);
    const first = send();
    const call = await nextCall();
    call.say({ type: 'text', text: 'Rain, ' });
    await (await first).body?.cancel();
    expect((await send()).status).toBe(409);
    call.say({ type: 'text', text: 'at noon.' }, { type: 'usage', usage: { input: 10, output: 3 } });
    call.end();
    const repeated = await vi.waitFor(async () => {
      const response = await send();
      expect(response.status).toBe(200);
      return response;
    });
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    expect(await repeated.text()).toContain('Rain, at noon.');
    expect(app.calls).toHaveLength(1);
    expect(await countCharges()).toBe(1);
  });
});
