import { toFetchHandler } from '@questline/core';
import type { Observer } from '@questline/core/ports';
import { createOpenAIApi } from '@questline/openai';
import { describe, expect, it } from 'vitest';
import { type ChatApp, type ChatAppOptions, createChatApp } from '../support/chat.ts';
import { createSoundStudio, createStudio } from '../support/media.ts';
import { createScriptedProvider } from '../support/model.ts';

const ID = 'f'.repeat(24);
const SCOPES = ['ai:chat', 'ai:generate', 'files:read', 'files:write'] as const;

function toForm(fields: Readonly<Record<string, string | Blob>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.set(name, value);
    else form.set(name, value, 'a.mp3');
  }
  return form;
}

const PICTURE = new Blob(['x'], { type: 'image/png' });

/** Every operation of the wire. */
const OPERATIONS: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['POST', '/chat/completions', { model: 'scripted', messages: [{ role: 'user', content: 'Hi' }] }],
  [
    'POST',
    '/chat/completions',
    { model: 'scripted', messages: [{ role: 'user', content: 'Hi' }], stream: true },
  ],
  ['GET', '/models'],
  ['GET', '/models/scripted'],
  ['POST', '/embeddings', { model: 'vectors', input: 'x' }],
  ['POST', '/images/generations', { model: 'painter', prompt: 'x' }],
  ['POST', '/images/edits', toForm({ model: 'painter', prompt: 'x', image: PICTURE })],
  ['POST', '/audio/speech', { model: 'reader-sounds', voice: 'v', input: 'x'.repeat(100) }],
  ['POST', '/audio/transcriptions', toForm({ model: 'listener-sounds', file: new Blob(['x'.repeat(1000)]) })],
  ['POST', '/files', toForm({ purpose: 'user_data', file: new Blob(['x']) })],
  ['GET', '/files'],
  ['GET', `/files/${ID}`],
  ['GET', `/files/${ID}/content`],
  ['DELETE', `/files/${ID}`],
];

const PAID = OPERATIONS.filter(([method, path]) => method === 'POST' && path !== '/files');

async function createGuarded(options: ChatAppOptions = {}): Promise<{
  app: ChatApp;
  send(
    operation: (typeof OPERATIONS)[number],
    key?: string | null,
  ): Promise<{ status: number; code: string; headers: Headers }>;
}> {
  const app = await createChatApp({
    started: false,
    models: [
      createScriptedProvider((call) => {
        call.say({ type: 'text', text: 'Hi' }, { type: 'usage', usage: { input: 4, output: 2 } });
        call.end();
      }),
      createStudio(),
      createSoundStudio({}, 'sounds'),
      {
        id: 'vectors',
        models: () => [
          {
            id: 'vectors',
            name: 'Vectors',
            type: 'embedding',
            provider: 'vectors',
            contextWindow: 1000,
            maxOutputTokens: 0,
            prices: { input: 100 },
          },
        ],
        generate: () => Promise.reject(new Error('no text')),
        embed: async ({ inputs }) => ({ embeddings: inputs.map(() => [1]), tokens: 1 }),
      },
    ],
    ...options,
    key: { scopes: SCOPES, ...options.key },
  });
  const handle = toFetchHandler(createOpenAIApi(app.services), { mountPath: '/openai' });
  return {
    app,
    async send([method, path, body], key = app.key) {
      const isForm = body instanceof FormData;
      const request = new Request(`http://questline.test/openai/v1${path}`, {
        method,
        headers: {
          ...(key !== null && { Authorization: `Bearer ${key}` }),
          ...(body !== undefined && !isForm && { 'Content-Type': 'application/json' }),
        },
        ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
      });
      const response = await handle(request);
      if (response === undefined) throw new Error(`${path} was not answered`);
      const text = await response.text();
      const code = response.status < 400 ? '' : JSON.parse(text).error.code;
      return { status: response.status, code, headers: response.headers };
    },
  };
}

describe('guards of every operation of the OpenAI wire', () => {
  it('refuse requests without a credential, or without the scope', async () => {
    const { app, send } = await createGuarded();
    const { key } = await app.issue({ scopes: ['me:read'] });
    for (const operation of OPERATIONS) {
      expect([operation, (await send(operation, null)).code]).toEqual([operation, 'invalid_api_key']);
      if (operation[1].startsWith('/models')) continue;
      expect([operation, (await send(operation, key)).code]).toEqual([operation, 'insufficient_permissions']);
    }
  });

  it('count every call against the limits of the key', async () => {
    const { app, send } = await createGuarded();
    for (const operation of OPERATIONS) {
      const { key } = await app.issue({ scopes: SCOPES, requestsPerMinute: 1 });
      expect((await send(operation, key)).headers.get('x-ratelimit-remaining-requests')).toBe('0');
      const second = await send(operation, key);
      expect([operation, second.status, second.code]).toEqual([operation, 429, 'rate_limit_exceeded']);
    }
  });

  it('refuse paid calls without credit, above the cap of a key and while the service shuts down', async () => {
    const { app, send } = await createGuarded();
    const poor = await app.addUser('poor@example.com');
    const { key } = await app.issue({ userId: poor.id, scopes: SCOPES });
    const capped = await app.issue({ scopes: SCOPES, spendCap: { amount: 1, period: 'day' } });
    for (const operation of PAID) {
      const refused = await send(operation, key);
      expect([operation, refused.status, refused.code]).toEqual([operation, 429, 'insufficient_quota']);
      expect(refused.headers.get('x-should-retry')).toBe('false');
      expect([operation, (await send(operation, capped.key)).code]).toEqual([
        operation,
        'insufficient_quota',
      ]);
      expect([operation, (await send(operation)).status]).toEqual([operation, 200]);
    }
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    await app.api.drain(0);
    for (const operation of PAID) {
      expect([operation, (await send(operation)).status]).toEqual([operation, 503]);
    }
  });

  it('count paid calls per day while credits are not enforced', async () => {
    const { app, send } = await createGuarded({
      settings: { paidCallsPerDay: 1, admin: { enforceCredits: false } },
    });
    for (const [index, operation] of PAID.entries()) {
      const user = await app.addUser(`user${index}@example.com`);
      const { key } = await app.issue({ userId: user.id, scopes: SCOPES });
      expect([operation, (await send(operation, key)).status]).toEqual([operation, 200]);
      expect([operation, (await send(operation, key)).code]).toEqual([operation, 'rate_limit_exceeded']);
    }
  });

  it('report every call to the observer', async () => {
    const seen: string[] = [];
    const observer: Observer = {
      request({ operation }, work) {
        seen.push(operation.id);
        return work();
      },
    };
    const { send } = await createGuarded({ settings: { observers: [observer] } });
    for (const operation of OPERATIONS) await send(operation);
    expect(seen).toHaveLength(OPERATIONS.length);
  });
});
