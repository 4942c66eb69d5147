import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { MOUNTS } from '../support/mounts.ts';
import { createTestApp } from '../support/test-app.ts';

/** Sends raw header lines, which no client library would send, and reads the complete answer. */
async function sendLines(port: number, lines: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  let text = '';
  socket.on('data', (chunk: string) => {
    text += chunk;
  });
  socket.write(
    Buffer.from(
      ['GET /api/v1/me HTTP/1.1', 'Host: x', 'Connection: close', ...lines, '', ''].join('\r\n'),
      'latin1',
    ),
  );
  await once(socket, 'close');
  return text;
}

describe.each(MOUNTS)('header lines on $name', ({ mount }) => {
  it('never combine two keys and never split a response', async () => {
    const app = await createTestApp();
    const other = (await app.issue({})).key;
    const host = await mount(app.api);
    try {
      const send = async (...lines: string[]) => {
        const answer = await sendLines(host.port, lines);
        return { status: Number(answer.slice(9, 12)), answer };
      };
      expect((await send(`x-api-key: ${app.key}`)).status).toBe(200);
      expect((await send(`x-api-key: ${app.key}`, `x-api-key: ${other}`)).status).toBe(401);
      expect((await send(`x-api-key: ${app.key}`, `Authorization: Bearer ${other}`)).status).toBe(401);
      const twice = await send(`x-api-key: ${app.key}`, 'X-Request-ID: one', 'X-Request-ID: two');
      expect(twice.answer).toMatch(/x-request-id: [A-Za-z0-9._-]+\r\n/i);
      const odd = await send(`x-api-key: ${app.key}`, 'X-Request-ID: a\tb\u00ff%0d%0aSet-Cookie: x=1');
      expect(odd.answer).toMatch(/x-request-id: ab0d0aSet-Cookiex1\r\n/i);
      expect(odd.answer).not.toMatch(/^set-cookie/im);
    } finally {
      await host.close();
    }
  });
});
