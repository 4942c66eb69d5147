import { setImmediate as turn } from 'node:timers/promises';
import { upload } from '@questline/client';
import { describe, expect, it, vi } from 'vitest';
import { createScriptedClient, json } from './support.ts';

const BLOB = new Blob(['twelve bytes']);
const created = (): Response => json({ id: 'f', upload_url: 'http://bucket.test/f' });
const stored = (status: string): Response => json({ id: 'f', moderation_status: status });
const put = (): Response => new Response(null, { status: 204 });

describe('an upload', () => {
  it('names the file by its name, and its type', async () => {
    const named = new File(['x'], 'a.txt', { type: 'text/plain' });
    for (const [file, options, body] of [
      [BLOB, {}, { file_name: 'file', mime_type: 'application/octet-stream', file_size: 12 }],
      [named, {}, { file_name: 'a.txt', mime_type: 'text/plain', file_size: 1 }],
      [
        named,
        { name: 'b.md', type: 'text/markdown' },
        { file_name: 'b.md', mime_type: 'text/markdown', file_size: 1 },
      ],
    ] as const) {
      const { client, sent } = createScriptedClient([created(), put(), stored('clean')]);
      expect(await upload(client, file, options)).toEqual({ id: 'f', moderation_status: 'clean' });
      expect(JSON.parse(String(sent[0]?.init.body))).toEqual(body);
      expect(sent[1]?.url).toBe('http://bucket.test/f');
      expect(sent[1]?.init.body).toBe(file);
      expect(sent[1]?.headers.get('content-type')).toBe(body.mime_type);
    }
  });

  it('waits for the check of the server', async () => {
    const states = ['pending', 'checking', 'clean'].map(stored);
    const { client, sent, waited } = createScriptedClient([created(), put(), ...states]);
    expect((await upload(client, BLOB)).moderation_status).toBe('clean');
    expect(waited).toEqual([500, 500]);
    expect(sent[2]?.url).toMatch(/\/files\/f$/);
  });

  it('rejects at once for a file that the check has blocked', async () => {
    const { client, sent } = createScriptedClient([created(), put(), stored('blocked')]);
    await expect(upload(client, BLOB)).rejects.toMatchObject({
      message: 'The check of the server has blocked the file.',
      code: 'file_blocked',
      body: { id: 'f', moderation_status: 'blocked' },
    });
    expect(sent).toHaveLength(3);
  });

  it('repeats a transfer after 1, 2 and 4 seconds', async () => {
    const failures = [json({ error: 'busy' }, 409), json({}, 500), new TypeError('offline')];
    const answers = failures.flatMap((failure) => [failure, stored('pending')]);
    const { client, waited } = createScriptedClient([created(), ...answers, put(), stored('clean')]);
    await upload(client, BLOB);
    expect(waited).toEqual([1000, 2000, 4000]);
  });

  it('does not repeat a transfer whose bytes have arrived', async () => {
    for (const status of ['clean', 'checking']) {
      const answers = [new TypeError('offline'), stored(status), stored('clean')];
      const { client, sent } = createScriptedClient([created(), ...answers]);
      await upload(client, BLOB);
      expect(sent.filter(({ init: { method } }) => method === 'PUT')).toHaveLength(1);
    }
  });

  it.each([400, 403, 408, 413, 499])(
    'does not repeat a transfer that was refused with %i',
    async (status) => {
      const { client, waited } = createScriptedClient([created(), json({ error: 'no' }, status)]);
      await expect(upload(client, BLOB)).rejects.toMatchObject({ status });
      expect(waited).toEqual([]);
    },
  );

  it('rejects with the failure of the fourth transfer', async () => {
    const answers = [409, 500, 502].flatMap((status) => [json({}, status), stored('pending')]);
    const { client, waited } = createScriptedClient([created(), ...answers, json({}, 503)]);
    await expect(upload(client, BLOB)).rejects.toMatchObject({ status: 503 });
    expect(waited).toEqual([1000, 2000, 4000]);
  });

  it('ends with its signal, wherever it is', async () => {
    const steps = [created, () => json({}, 500), () => stored('pending'), put, () => stored('pending')];
    for (let last = 0; last < steps.length; last += 1) {
      const controller = new AbortController();
      const reason = new Error('left');
      let asked = 0;
      const { client, waited } = createScriptedClient([], {
        async fetch() {
          asked += 1;
          const answer = steps[asked - 1]?.() ?? expect.fail();
          if (asked === last + 1) controller.abort(reason);
          return answer;
        },
      });
      await expect(upload(client, BLOB, { signal: controller.signal })).rejects.toBe(reason);
      expect(asked).toBe(last + 1);
      expect(waited).toEqual([1000, 500].slice(0, [0, 0, 1, 1, 2][last]));
    }
  });

  it('passes its signal to each request and wait', async () => {
    const signals: unknown[] = [];
    const answers = [json({}, 500), stored('pending'), put(), stored('pending'), stored('clean')];
    const { client, sent } = createScriptedClient([created(), ...answers], {
      wait: async (_ms, signal) => void signals.push(signal),
    });
    const { signal } = new AbortController();
    await upload(client, BLOB, { signal });
    expect(signals).toEqual([signal, signal]);
    expect(sent.map(({ init }) => init.signal)).toEqual(Array(6).fill(signal));
  });

  it('repeats a transfer after the wait', async () => {
    let goOn: (() => void) | undefined;
    const answers = [json({}, 500), stored('clean'), stored('clean')];
    const { client, sent } = createScriptedClient([created(), ...answers], {
      wait: () =>
        new Promise<void>((resolve) => {
          goOn = resolve;
        }),
    });
    const uploading = upload(client, BLOB);
    await vi.waitFor(() => expect(goOn).not.toBeUndefined());
    await turn();
    expect(sent).toHaveLength(2);
    goOn?.();
    await uploading;
  });
});
