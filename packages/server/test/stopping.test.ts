import { describe, expect, it, vi } from 'vitest';
import { emptyFolder, questline, type StartLines, startLines } from './command.ts';

// Every test starts processes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

describe('questline start after a stop signal', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`finishes an open stream, accepts nothing new and exits with 0 on ${signal}`, async () => {
      const running = questline(['start', '--demo', '--port', '0']);
      const lines = await startLines(running);
      const stream = await openStream(lines, 'word '.repeat(100));
      running.signal(signal);
      await running.until(/"msg":"stopping"/);
      const text = await stream.rest();
      expect(text).toMatch(/"stopReason":"stop"/);
      expect(text).toMatch(/data: \[DONE\]\n\n$/);
      expect(await running.ended).toEqual({ code: 0, signal: null });
      await expect(fetch(lines.url)).rejects.toThrow();
    });
  }

  it('ends a long stream cleanly at the second signal and charges for its output', async () => {
    const cwd = emptyFolder();
    const running = questline(['start', '--demo', '--port', '0'], { cwd });
    const lines = await startLines(running);
    // The offline model repeats this text in small chunks, which takes half a minute.
    const stream = await openStream(lines, 'word '.repeat(3000));
    running.signal('SIGTERM');
    await running.until(/"msg":"stopping"/);
    running.signal('SIGTERM');
    const text = await stream.rest();
    expect(text).toMatch(
      /data: \{"type":"error","message":"The service is about to restart[^\n]+\n\ndata: \[DONE\]\n\n$/,
    );
    expect(await running.ended).toEqual({ code: 0, signal: null });

    const again = await startLines(questline(['start', '--demo', '--port', '0'], { cwd }));
    const usage = await toUsage(again);
    expect(usage.credits.reserved).toBe(0);
    expect(usage.credits.balance).toBeLessThan(1000);
    expect(usage.credits.balance).toBeGreaterThan(970);
  });
});

describe('questline start after a stop signal with 50 open streams', () => {
  /** Complete, or ended with an error event, without a partial line. */
  const PROPER =
    /data: \{[^\n]*(?:"stopReason":"stop"|"message":"The service is about to restart)[^\n]*\n\n(?:data: [^\n]*\n\n)*data: \[DONE\]\n\n$/;

  for (const [name, words, signals] of [
    ['lets those end that can', 60, 1],
    ['ends those properly that would take longer, when it is hurried', 3000, 2],
  ] as const) {
    it(`${name}, exits with 0, and a restart finds nothing lost`, async () => {
      const cwd = emptyFolder();
      const running = questline(['start', '--demo', '--port', '0'], { cwd });
      const lines = await startLines(running);
      const streams = await Promise.all(
        Array.from({ length: 50 }, () => openStream(lines, 'word '.repeat(words), 200 + words)),
      );
      const before = await toUsage(lines);
      for (let sent = 0; sent < signals; sent += 1) {
        running.signal('SIGTERM');
        await running.until(/"msg":"stopping"/);
      }
      const texts = await Promise.all(streams.map((stream) => stream.rest()));
      for (const text of texts) expect(text).toMatch(PROPER);
      expect(await running.ended).toEqual({ code: 0, signal: null });
      const whole = texts.filter((text) => text.includes('"stopReason":"stop"')).length;
      console.log(`50 streams at SIGTERM: ${whole} ended by themselves, ${50 - whole} were reported why not`);
      // The second signal does not wait ten seconds.
      if (signals === 2) expect(whole).toBeLessThan(50);

      const again = await startLines(questline(['start', '--demo', '--port', '0'], { cwd }));
      const after = await toUsage(again);
      expect(after.credits.reserved).toBe(0);
      expect(after.credits.balance).toBeLessThan(1000);
      // The holds covered the output.
      expect(after.credits.balance).toBeGreaterThanOrEqual(before.credits.balance);
    });
  }
});

describe('questline start after a kill', () => {
  it('keeps account, credits and history after a restart and prints another demo key', async () => {
    const cwd = emptyFolder();
    const first = questline(['start', '--demo', '--port', '0'], { cwd });
    const before = await startLines(first);
    await (await openStream(before, 'Hello')).rest();
    const { id } = await toMe(before);
    const usage = await toUsage(before);
    first.signal('SIGKILL');
    expect((await first.ended).signal).toBe('SIGKILL');

    const after = await startLines(questline(['start', '--demo', '--port', '0'], { cwd }));
    expect(after.key).not.toBe(before.key);
    expect((await toMe(after)).id).toBe(id);
    expect((await toUsage(after)).credits).toEqual(usage.credits);
    expect(usage.credits.balance).toBeLessThan(1000);
    const old = await fetch(`${after.url}/api/v1/me`, { headers: { authorization: `Bearer ${before.key}` } });
    expect(old.status).toBe(401);
  });
});

async function openStream({ url, key }: StartLines, content: string, tokens = 8000) {
  const answer = await fetch(`${url}/api/ai/v1/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo-echo', max_tokens: tokens, messages: [{ role: 'user', content }] }),
  });
  expect(answer.status).toBe(200);
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const readUntil = async (done: () => boolean): Promise<void> => {
    while (reader !== undefined && !done()) {
      const step = await reader.read();
      if (step.done) return;
      text += step.value;
    }
  };
  await readUntil(() => text.includes('"content"'));
  return {
    async rest() {
      await readUntil(() => false);
      return text;
    },
  };
}

interface Usage {
  readonly credits: { readonly balance: number; readonly reserved: number };
}

function toMe(lines: StartLines): Promise<{ id: string }> {
  return get(lines, '/api/v1/me') as Promise<{ id: string }>;
}

function toUsage(lines: StartLines): Promise<Usage> {
  return get(lines, '/api/v1/usage') as Promise<Usage>;
}

async function get({ url, key }: StartLines, path: string): Promise<unknown> {
  const answer = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
  expect(answer.status).toBe(200);
  return answer.json();
}
