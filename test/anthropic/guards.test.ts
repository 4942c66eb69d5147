import { createAnthropicApi } from '@questline/anthropic';
import { toFetchHandler } from '@questline/core';
import type { Observer } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { type ChatApp, type ChatAppOptions, createChatApp, sayAtOnce } from '../support/chat.ts';
import { ASK } from './support.ts';

const SCOPES = ['ai:chat', 'ai:generate'] as const;

/** Every operation of the wire. */
const OPERATIONS: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['POST', '/messages', ASK],
  ['POST', '/messages', { ...ASK, stream: true }],
  ['POST', '/messages/count_tokens', ASK],
  ['GET', '/models'],
  ['GET', '/models/scripted'],
];

const PAID = OPERATIONS.filter(([, path]) => path === '/messages');

async function createGuarded(options: ChatAppOptions = {}): Promise<{
  app: ChatApp;
  send(
    operation: (typeof OPERATIONS)[number],
    key?: string | null,
  ): Promise<{ status: number; type: string; headers: Headers }>;
}> {
  const app = await createChatApp({
    started: false,
    onCall: sayAtOnce('Hi'),
    ...options,
    key: { scopes: SCOPES, ...options.key },
  });
  const handle = toFetchHandler(createAnthropicApi(app.services), { mountPath: '/anthropic' });
  return {
    app,
    async send([method, path, body], key = app.key) {
      const request = new Request(`http://questline.test/anthropic/v1${path}`, {
        method,
        headers: { ...(key !== null && { 'x-api-key': key }), 'Content-Type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const response = await handle(request);
      if (response === undefined) throw new Error(`${path} was not answered`);
      const text = await response.text();
      const type = response.status < 400 ? '' : JSON.parse(text).error.type;
      return { status: response.status, type, headers: response.headers };
    },
  };
}

describe('guards of every operation of the Anthropic wire', () => {
  it('refuse requests without a credential, or without the scope', async () => {
    const { app, send } = await createGuarded();
    const { key } = await app.issue({ scopes: ['me:read'] });
    for (const operation of OPERATIONS) {
      expect([operation, (await send(operation, null)).type]).toEqual([operation, 'authentication_error']);
      if (operation[1].startsWith('/models')) continue;
      expect([operation, (await send(operation, key)).type]).toEqual([operation, 'permission_error']);
    }
  });

  it('count every call against the limits of the key', async () => {
    const { app, send } = await createGuarded();
    for (const operation of OPERATIONS) {
      const { key } = await app.issue({ scopes: SCOPES, requestsPerMinute: 1 });
      const first = await send(operation, key);
      expect(first.headers.get('anthropic-ratelimit-requests-remaining')).toBe('0');
      const second = await send(operation, key);
      expect([operation, second.status, second.type]).toEqual([operation, 429, 'rate_limit_error']);
    }
  });

  it('refuse paid calls without credit, above the cap of a key and while the service shuts down', async () => {
    const { app, send } = await createGuarded();
    const poor = await app.addUser('poor@example.com');
    const { key } = await app.issue({ userId: poor.id, scopes: SCOPES });
    const capped = await app.issue({ scopes: SCOPES, spendCap: { amount: 1, period: 'day' } });
    for (const operation of PAID) {
      for (const refused of [await send(operation, key), await send(operation, capped.key)]) {
        expect([operation, refused.status, refused.type]).toEqual([operation, 402, 'billing_error']);
        expect(refused.headers.get('x-should-retry')).toBe('false');
      }
      expect([operation, (await send(operation)).status]).toEqual([operation, 200]);
    }
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    await app.api.drain(0);
    for (const operation of PAID) {
      const refused = await send(operation);
      expect([operation, refused.status, refused.type]).toEqual([operation, 503, 'api_error']);
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
      const refused = await send(operation, key);
      expect([operation, refused.type]).toEqual([operation, 'rate_limit_error']);
      expect(refused.headers.get('x-should-retry')).toBe('false');
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
