import { describe, expect, it, vi } from 'vitest';
import { METRICS } from '../src/observability/metrics-table.ts';
import { emptyFolder, outcome, questline, startLines } from './command.ts';

vi.setConfig({ testTimeout: 180_000 });

const TOKEN = 'marked-metrics-token-0123456789';

/** Lines of metrics: name, labels, value. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

function getSamples(text: string): readonly Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', text = '']) => [key, text]);
      return { name, labels: Object.fromEntries(pairs), value: Number(value) };
    });
}

function figure(samples: readonly Sample[], metric: string, labels: Readonly<Record<string, string>> = {}) {
  return samples.find(
    (sample) =>
      sample.name === metric && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  )?.value;
}

describe('GET /metrics', () => {
  it('answers 404 until a token is set', async () => {
    const running = questline(['start', '--demo', '--port', '0']);
    const { url } = await startLines(running);
    const answer = await fetch(`${url}/metrics`, { headers: { authorization: 'Bearer ' } });
    expect(answer.status).toBe(404);
    await answer.text();
  });

  it('requires a strong token', async () => {
    const { code, stderr } = await outcome(['start'], { env: { PORT: '0', METRICS_TOKEN: 'short' } });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^questline: METRICS_TOKEN: expected 16 or more/);
  });

  it('counts events with labels of few values', async () => {
    const cwd = emptyFolder();
    const running = questline(['start', '--demo', '--port', '0'], { cwd, env: { METRICS_TOKEN: TOKEN } });
    const { url, key } = await startLines(running);
    const scrape = (token: string) =>
      fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    for (const wrong of ['', 'x', key, `${TOKEN}0`]) {
      const refused = await scrape(wrong);
      expect(refused.status).toBe(401);
      await refused.text();
    }

    const ask = (path: string, body?: object) =>
      fetch(`${url}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }).then((answer) => answer.text());
    const messages = [{ role: 'user', content: 'Hello' }];
    expect(await ask('/api/ai/v1/completions', { model: 'demo-echo', messages })).toMatch(/\[DONE\]/);
    await ask('/api/ai/v1/completions', { model: 'no-such-model', messages });
    await ask('/api/chat', { model: 'demo-echo', message: 'Hello', wait: true });
    await ask(`/api/v1/quests/${'a'.repeat(24)}`);
    await ask('/nowhere/at/all');

    let text = '';
    let samples: readonly Sample[] = [];
    // A client may receive its complete answer a moment before the server counts it.
    await vi.waitFor(
      async () => {
        const answer = await scrape(TOKEN);
        expect(answer.status).toBe(200);
        expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
        text = await answer.text();
        samples = getSamples(text);
        // The scrape itself is open.
        expect(figure(samples, 'questline_http_requests_open')).toBe(1);
        expect(samples.map(({ name }) => name)).toContain('questline_job_duration_seconds_count');
      },
      { timeout: 60_000, interval: 100 },
    );

    const requests = 'questline_http_requests_total';
    const completions = { operation: 'createCompletion', method: 'POST' };
    expect(figure(samples, requests, { ...completions, status: '200' })).toBe(1);
    expect(figure(samples, requests, { ...completions, status: '400' })).toBe(1);
    expect(figure(samples, requests, { operation: 'getQuest', status: '404' })).toBe(1);
    expect(figure(samples, requests, { operation: 'none', status: '401' })).toBe(4);
    expect(
      figure(samples, 'questline_http_request_duration_seconds_count', { operation: 'createCompletion' }),
    ).toBe(2);
    expect(figure(samples, 'questline_http_streams_open')).toBe(0);
    expect(figure(samples, 'questline_jobs', { state: 'ready' })).toBeGreaterThanOrEqual(0);
    const demo = samples.filter(({ name }) => name === 'questline_model_calls_total');
    expect(demo.map(({ labels }) => [labels.kind, labels.outcome])).toContainEqual(['chat', 'done']);
    const model = { model: 'demo-echo' };
    const settled = figure(samples, 'questline_credits_total', { ...model, movement: 'settled' }) ?? 0;
    const held = figure(samples, 'questline_credits_total', { ...model, movement: 'held' }) ?? 0;
    expect(settled).toBeGreaterThan(0);
    expect(held).toBeGreaterThan(settled);
    expect(figure(samples, 'questline_tokens_total', { ...model, class: 'output' })).toBeGreaterThan(0);
    for (const part of ['store', 'queue', 'ledger', 'objects']) {
      expect(figure(samples, 'questline_dependency_up', { part })).toBe(1);
    }
    expect(figure(samples, 'process_resident_memory_bytes')).toBeGreaterThan(0);

    // Exactly the documented metrics exist, with the documented labels.
    const promised = Object.entries(METRICS).map(([name, { kind }]) => `# TYPE ${name} ${kind}`);
    const reported = text.split('\n').filter((line) => /^# TYPE questline_/.test(line));
    expect(reported.sort()).toEqual(promised.sort());
    for (const { name, labels } of samples.filter((sample) => sample.name.startsWith('questline_'))) {
      const metric = name.replace(/_(?:bucket|sum|count)$/, '') as keyof typeof METRICS;
      const { labels: known } = METRICS[metric] ?? METRICS[name as keyof typeof METRICS];
      expect(
        Object.keys(labels)
          .filter((label) => label !== 'le')
          .sort(),
      ).toEqual([...known].sort());
      expect(Object.values(labels).join(' ')).not.toMatch(/[0-9a-f]{24}|\/|@|svc_/);
    }

    running.signal('SIGTERM');
    expect(await running.ended).toEqual({ code: 0, signal: null });
    expect(running.output()).not.toContain(TOKEN);
  });
});
