import { type Method, must } from './client.ts';
import { COMPLETION } from './conversations.ts';
import type { Scenario } from './scenario.ts';
import { useSocket } from './socket.ts';

/** Requests that the server must reject without a 5xx response. */
const MISTAKES: readonly (readonly [Method, string, number, (string | object)?, string?])[] = [
  ['POST', '/api/chat', 400, '{"message": '],
  ['POST', '/api/chat', 422, {}],
  ['POST', '/api/ai/v1/completions', 422, { model: 7 }],
  ['POST', '/api/ai/v1/completions', 401, COMPLETION, 'svc_live_nobody'],
  ['DELETE', '/api/chat', 405],
  ['GET', '/api/v1/nothing', 404],
  ['GET', `/api/v1/quests/${'f'.repeat(24)}`, 404],
  ['GET', `/api/v1/files/${'f'.repeat(24)}`, 404],
  ['GET', '/api/v1/sessions?limit=many', 422],
  ['GET', '/api/users', 401],
  ['POST', '/api/v1/sessions', 413, { name: 'x'.repeat(2_000_000) }],
];

export const rejections: readonly Scenario[] = [
  {
    name: 'key',
    weight: 5,
    async run({ client }, { token }) {
      const body = { name: 'for a moment', preset: 'read' };
      const made = must(
        await client.ask<{ id: string; key: string }>('POST', '/api/user-api-keys', {
          credential: token,
          body,
        }),
      );
      client.secrets.add(made.key);
      const me = () => client.ask('GET', '/api/v1/me', { credential: made.key });
      must(await me());
      must(await client.ask('POST', `/api/user-api-keys/${made.id}/revoke`, { credential: token, body: {} }));
      if ((await me()).status !== 401) throw new Error('a revoked key was accepted');
      return 'revoked';
    },
  },
  {
    name: 'sign-in',
    weight: 4,
    async run({ client, ids, signIn }) {
      const { token, refreshToken } = await signIn(`guest-${ids.size}-${Date.now()}@example.com`);
      must(await client.ask('GET', '/api/v1/credits', { credential: token }));
      const next = must(
        await client.ask<{ accessToken: string; refreshToken: string }>('POST', '/api/auth/refreshToken', {
          body: { refreshToken },
        }),
      );
      for (const secret of [next.accessToken, next.refreshToken]) client.secrets.add(secret);
      return 'in';
    },
  },
  { name: 'live updates', weight: 3, run: useSocket },
  {
    name: 'mistake',
    weight: 10,
    async run({ client }, { key }, random) {
      const mistake = MISTAKES[random.below(MISTAKES.length)];
      if (mistake === undefined) throw new Error('there is no such request');
      const [method, path, expected, body, credential = key] = mistake;
      const request = { credential, ...(body !== undefined && { body }) };
      const { status } = await client.ask(method, path, request);
      if (status !== expected) throw new Error(`${method} ${path}: ${status} in place of ${expected}`);
      return String(status);
    },
  },
  {
    name: 'page',
    weight: 2,
    async run({ client }, _person, random) {
      const pages = [
        '/',
        '/ready',
        '/api/health',
        '/api/v1/openapi.json',
        '/api/settings/serverConfigPublic',
      ];
      must(await client.ask('GET', pages[random.below(pages.length)] ?? '/'));
      return 'shown';
    },
  },
];
