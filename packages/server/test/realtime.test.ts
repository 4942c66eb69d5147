import { describe, expect, it, vi } from 'vitest';
import { openClient, refusal } from '../../realtime/test/client.ts';
import { questline, startLines } from './command.ts';

// Every test starts processes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const START = ['start', '--demo', '--port', '0'];

describe('live updates', () => {
  it('are off by default', async () => {
    const { url, key } = await startLines(questline(START));
    const { status } = await refusal(`${url.replace('http', 'ws')}/api/realtime?token=${key}`);
    expect(status).toBe(404);
  });

  it('work when enabled, and close when the server stops', async () => {
    const running = questline(START, { env: { QUESTLINE_REALTIME: 'true' } });
    const { url, key } = await startLines(running);
    const made = await fetch(`${url}/api/v1/sessions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'test' }),
    });
    const { id } = (await made.json()) as { id: string };
    const client = await openClient(`${url.replace('http', 'ws')}/api/realtime?token=${key}`);
    client.subscribe(id);
    await client.settled();
    expect(client.heard).toEqual([]);
    running.signal('SIGTERM');
    expect((await client.closed).code).toBe(1001);
    expect(await running.ended).toEqual({ code: 0, signal: null });
  });
});
