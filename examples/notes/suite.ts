import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/**
 * The behavior that every example must have: that of the application, and that of Questline. @param build
 * creates a new application.
 */
export function exampleSuite(name: string, build: (jwtSecret: string) => Promise<RequestListener>): void {
  describe(`the ${name} example`, () => {
    const server = createServer();
    let cookie = '';

    beforeAll(async () => {
      server.on('request', await build('0123456789abcdef'.repeat(4)));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const signedIn = await ask('POST', '/login', { email: 'ada@example.com', password: 'analytical' });
      cookie = signedIn.headers.get('set-cookie') ?? '';
    });
    afterAll(() => {
      server.close();
      server.closeAllConnections();
    });

    function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
      const { port } = server.address() as AddressInfo;
      return fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    }

    async function token(): Promise<string> {
      const answer = (await (await ask('GET', '/token', undefined, { cookie })).json()) as { token: string };
      return answer.token;
    }

    it('keeps notes for signed-in users', async () => {
      const added = await ask('POST', '/notes', { text: 'na\u00efve' }, { cookie });
      expect([added.status, await added.json()]).toEqual([201, ['na\u00efve']]);
      const listed = await ask('GET', '/notes', undefined, { cookie });
      expect([listed.status, await listed.json()]).toEqual([200, ['na\u00efve']]);
    });

    it('formats its own errors', async () => {
      const stranger = await ask('GET', '/notes');
      expect([stranger.status, await stranger.json()]).toEqual([401, { problem: 'Sign in first' }]);
      const empty = await ask('POST', '/notes', {}, { cookie });
      expect([empty.status, await empty.json()]).toEqual([400, { problem: 'A note needs a text' }]);
      for (const path of ['/nothing', '/api', '/api/nothing']) {
        const unknown = await ask('GET', path);
        expect([unknown.status, await unknown.json()]).toEqual([404, { problem: 'No such page' }]);
      }
    });

    it('lets a signed-in user chat, and charges for it', async () => {
      const bearer = { Authorization: `Bearer ${await token()}` };
      const answer = await ask(
        'POST',
        '/api/ai/v1/completions',
        { model: 'demo-echo', messages: [{ role: 'user', content: 'Hello over there' }] },
        bearer,
      );
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
      const events = (await answer.text()).trim().split('\n\n');
      expect(events.at(-1)).toBe('data: [DONE]');
      expect(events.join('')).toContain('Hello');
      const credits = await (await ask('GET', '/api/v1/credits', undefined, bearer)).json();
      const { balance } = credits as { balance: number };
      expect(balance).toBeGreaterThan(99);
      expect(balance).toBeLessThan(100);
    });

    it('answers a chat with the reply, and returns its quest', async () => {
      const bearer = { Authorization: `Bearer ${await token()}` };
      const answer = await ask(
        'POST',
        '/api/chat',
        { message: 'Hello', newConversation: true, wait: true },
        bearer,
      );
      const turn = (await answer.json()) as { status: string; response: string; id: string };
      expect([answer.status, turn.status]).toEqual([200, 'done']);
      expect(turn.response).toContain('Hello');
      const quest = await (await ask('GET', `/api/v1/quests/${turn.id}`, undefined, bearer)).json();
      expect(quest).toMatchObject({ status: 'done', reply: turn.response });
    });

    it('makes an image', async () => {
      const bearer = { Authorization: `Bearer ${await token()}` };
      const accepted = await ask(
        'POST',
        '/api/v1/image-generations',
        { model: 'demo-image', prompt: 'A lighthouse' },
        bearer,
      );
      const { id } = (await accepted.json()) as { id: string };
      const quest = await untilEnded(`/api/v1/quests/${id}`, bearer, ({ status }) =>
        ['done', 'stopped'].includes(String(status)),
      );
      expect(quest).toMatchObject({ status: 'done' });
    });

    it('accepts a file, checks it, and serves it', async () => {
      const bearer = { Authorization: `Bearer ${await token()}` };
      const announced = { file_name: 'a.txt', mime_type: 'text/plain', file_size: 5 };
      const created = await ask('POST', '/api/v1/files', announced, bearer);
      const { id, upload_url: url } = (await created.json()) as { id: string; upload_url: string };
      const { pathname, search } = new URL(url, 'http://localhost');
      const { port } = server.address() as AddressInfo;
      const sent = await fetch(`http://127.0.0.1:${port}${pathname}${search}`, {
        method: 'PUT',
        headers: { 'Content-Type': 'text/plain' },
        body: 'hello',
      });
      expect(sent.status).toBeLessThan(300);
      const file = await untilEnded(
        `/api/v1/files/${id}`,
        bearer,
        ({ moderation_status: state }) => state === 'clean' || state === 'blocked',
      );
      expect(file.moderation_status).toBe('clean');
      const link = new URL(String(file.download_url), 'http://localhost');
      expect(await (await ask('GET', link.pathname + link.search)).text()).toBe('hello');
    });

    /** Polls until a condition holds. */
    async function untilEnded(
      path: string,
      headers: Record<string, string>,
      isEnded: (record: Record<string, unknown>) => boolean,
    ): Promise<Record<string, unknown>> {
      for (;;) {
        const record = (await (await ask('GET', path, undefined, headers)).json()) as Record<string, unknown>;
        if (isEnded(record)) return record;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }

    it('answers 401 to a request without credentials', async () => {
      const answer = await ask('GET', '/api/v1/me');
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    });
  });
}
