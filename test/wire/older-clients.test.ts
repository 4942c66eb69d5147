import { createDemoProvider } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CLIENT_ID, DEVICE_GRANT, decide, initiate, oauth, poll } from '../support/device-login.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

/*
 * The fields that clients of the original interface read, as schemas of these clients. They send the access
 * token of a device login.
 */

const codes = z.object({
  device_code: z.string().min(1),
  user_code: z.string().min(1),
  verification_uri: z.url(),
  verification_uri_complete: z.url(),
  expires_in: z.literal(600),
  interval: z.literal(5),
});
// A success has no property `error`.
const tokens = z.strictObject({
  access_token: z.string(),
  refresh_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.literal(604_800),
});
const page = z.object({ data: z.array(z.object({ id: z.string() })).min(1), hasMore: z.boolean() });
const quest = z.object({ id: z.string(), status: z.string(), replies: z.array(z.string()) });
const session = z.object({ id: z.string(), name: z.string() });
const artifacts = z.object({
  artifacts: z.array(z.object({ id: z.string(), title: z.string() })).min(1),
  pagination: z.object({
    total: z.number(),
    limit: z.number(),
    offset: z.number(),
    hasMore: z.boolean(),
  }),
});
const artifact = z.object({ artifact: z.object({ id: z.string() }), content: z.string() });
const identity = z.object({ user: z.object({ currentCredits: z.number() }) });
const transactions = z
  .array(
    z.object({
      type: z.enum([
        'text_generation_usage',
        'image_generation_usage',
        'image_edit_usage',
        'video_generation_usage',
        'completion_api_usage',
        'speech_to_text_usage',
        'text_to_speech_usage',
        'sound_effects_usage',
        'tool_usage',
        'generic_deduct',
      ]),
      credits: z.number(),
      model: z.string().optional(),
      metadata: z.unknown(),
    }),
  )
  .min(1);
const skills = z.object({
  data: z
    .array(
      z.object({
        id: z.string(),
        name: z.string(),
        description: z.string(),
        body: z.string(),
        argumentHint: z.string().optional(),
        allowedTools: z.array(z.string()).optional(),
        disableModelInvocation: z.boolean().optional(),
      }),
    )
    .min(1),
  hasMore: z.boolean().optional(),
  total: z.number().optional(),
});
const serverConfig = z.object({ sseCompletionsUrl: z.url().optional() });

interface Client {
  readonly app: TestApp;
  readonly refreshToken: string;
  call(method: string, path: string, body?: unknown): Promise<unknown>;
}

async function createClient(): Promise<Client> {
  const app = await createTestApp({
    models: [createDemoProvider()],
    settings: {
      skills: [{ id: 'poems', name: 'Poems', description: 'Verses', instructions: 'Rhyme.', listed: true }],
    },
  });
  const started = codes.parse(await initiate(app));
  await decide(app, started.user_code);
  const signedIn = tokens.parse((await poll(app, started)).body);
  return {
    app,
    refreshToken: signedIn.refresh_token,
    async call(method, path, body) {
      const answer = await app.ask(method, path, {
        credential: signedIn.access_token,
        ...(body !== undefined && { body }),
      });
      expect(answer.status, `${method} ${path}`).toBeLessThan(300);
      return answer.json();
    },
  };
}

describe('client of the original interface', () => {
  it('signs in, and renews its tokens', async () => {
    const { app, refreshToken } = await createClient();
    const renewed = await oauth(app, 'refresh', {
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      client_id: CLIENT_ID,
    });
    tokens.parse(renewed.body);
  });

  it('reads a denied login as text', async () => {
    const app = await createTestApp();
    const body = { grant_type: DEVICE_GRANT, device_code: 'x', client_id: CLIENT_ID };
    expect((await oauth(app, 'device/token', body)).body.error).toBe('invalid_grant');
    const refresh = { grant_type: 'refresh_token', refresh_token: 'x', client_id: CLIENT_ID };
    expect((await oauth(app, 'refresh', refresh)).body).toMatchObject({
      error: 'invalid_grant',
      error_description: expect.any(String),
    });
  });

  it('receives every expected shape', async () => {
    const { app, call } = await createClient();
    await app.api.start();
    const { id } = session.parse(await call('POST', '/api/sessions/create', { name: 'Notes' }));
    const asked = z
      .object({ id: z.string() })
      .parse(await call('POST', '/api/chat', { message: 'Hi', sessionId: id, wait: true }));
    quest.parse(await call('GET', `/api/quests/${asked.id}`));
    const project = z
      .object({ id: z.string() })
      .parse(await call('POST', '/api/v1/projects', { name: 'Engine', description: 'All.' }));
    const input = { file_name: 'a.txt', mime_type: 'text/plain', file_size: 1 };
    const file = z.object({ id: z.string() }).parse(await call('POST', '/api/v1/files', input));
    const made = { type: 'code', title: 'Loop', content: 'for (;;);' };
    const loop = z.object({ id: z.string() }).parse(await call('POST', '/api/v1/artifacts', made));

    for (const brackets of ['pagination[page]=1&pagination[limit]=100', 'pagination%5Blimit%5D=100']) {
      page.parse(await call('GET', `/api/sessions?search=notes&${brackets}`));
      page.parse(await call('GET', `/api/files/search?search=a&${brackets}`));
      page.parse(await call('GET', `/api/projects?search=eng&${brackets}`));
    }
    expect(await call('GET', `/api/files/${file.id}`)).toEqual(await call('GET', `/api/v1/files/${file.id}`));
    expect(await call('GET', `/api/projects/${project.id}`)).toEqual(
      await call('GET', `/api/v1/projects/${project.id}`),
    );
    artifacts.parse(await call('GET', '/api/artifacts?limit=10&offset=0'));
    const read = await call('GET', `/api/artifacts/${loop.id}?includeContent=true`);
    expect(artifact.parse(read).content).toBe(made.content);
    const before = identity.parse(await call('GET', '/api/identify'));
    expect(before.user.currentCredits).toBeLessThan(1000);
    transactions.parse(await call('GET', '/api/credits/transactions?days=7'));
    skills.parse(await call('GET', '/api/skills?limit=50'));
    serverConfig.parse(await call('GET', '/api/settings/serverConfig'));
    await app.api.close();
  });

  it('lists voices and news when the host provides them', async () => {
    const voices = [{ id: 'v1', name: 'Ada' }];
    const entry = (id: string, day: string) => ({ id, title: id, published_at: `${day}T00:00:00.000Z` });
    const app = await createTestApp({
      settings: {
        voices,
        whatsNew: async () => [entry('old', '2026-01-01'), entry('new', '2026-02-01')],
      },
    });
    const { key } = await app.issue({ scopes: ['ai:generate'] });
    const read = async (path: string) => (await app.ask('GET', path, { credential: key })).json();
    expect(await read('/api/v1/voices')).toEqual({ data: voices });
    expect(await read('/api/v1/whats-new')).toMatchObject({ data: [{ id: 'new' }, { id: 'old' }] });
    const without = await createTestApp();
    expect((await without.ask('GET', '/api/v1/voices')).status).toBe(599);
    expect((await without.ask('GET', '/api/v1/whats-new')).status).toBe(599);
  });
});

describe('a word in place of an id', () => {
  it.each([
    ['POST', '/api/sessions/duplicate'],
    ['PATCH', '/api/v1/projects/archive'],
    ['POST', '/api/v1/agent-executions/one/two'],
    ['DELETE', '/api/quests/all'],
  ])('answers 404 and not 405: %s %s', async (method, path) => {
    const app = await createTestApp({ settings: { unknownPaths: 'not-found' } });
    const token = await app.token();
    expect((await app.ask(method, path, { credential: token })).status).toBe(404);
  });

  it.each([
    ['PATCH', `/api/sessions/${'0'.repeat(24)}`],
    ['DELETE', `/api/quests/${'0'.repeat(24)}`],
    ['GET', '/api/sessions/create'],
  ])('still answers 405: %s %s', async (method, path) => {
    const app = await createTestApp();
    expect((await app.ask(method, path)).status).toBe(405);
  });

  it('is left to the host when unknown paths are', async () => {
    const app = await createTestApp();
    expect((await app.ask('POST', '/api/sessions/duplicate')).status).toBe(599);
  });
});
