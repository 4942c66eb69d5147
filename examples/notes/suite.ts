import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** What every example must do: all that it did before, and what Questline adds. @param build makes a fresh application. */
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

    it('keeps notes for people who have signed in', async () => {
      const added = await ask('POST', '/notes', { text: 'na\u00efve' }, { cookie });
      expect([added.status, await added.json()]).toEqual([201, ['na\u00efve']]);
      const listed = await ask('GET', '/notes', undefined, { cookie });
      expect([listed.status, await listed.json()]).toEqual([200, ['na\u00efve']]);
    });

    it('answers its own errors its own way', async () => {
      const stranger = await ask('GET', '/notes');
      expect([stranger.status, await stranger.json()]).toEqual([401, { problem: 'Sign in first' }]);
      const empty = await ask('POST', '/notes', {}, { cookie });
      expect([empty.status, await empty.json()]).toEqual([400, { problem: 'A note needs a text' }]);
      for (const path of ['/nothing', '/api', '/api/nothing']) {
        const unknown = await ask('GET', path);
        expect([unknown.status, await unknown.json()]).toEqual([404, { problem: 'No such page' }]);
      }
    });

    it('lets whoever has signed in chat, and charges for it', async () => {
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

    it('refuses a stranger in the words of the api', async () => {
      const answer = await ask('GET', '/api/v1/me');
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    });
  });
}
