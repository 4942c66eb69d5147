import { expect, it, vi } from 'vitest';
import { questline, startLines } from './command.ts';

vi.setConfig({ testTimeout: 180_000 });

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent?: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

it('traces a chat from the request over the queue to the model when a tracer provider is registered', async () => {
  const register = new URL('./register-tracing.ts', import.meta.url).href;
  const running = questline(['start', '--demo', '--port', '0'], {
    env: { NODE_OPTIONS: `--import ${register}` },
  });
  const { url, key } = await startLines(running);
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const answer = await fetch(`${url}/api/chat`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      traceparent: `00-${traceId}-b7ad6b7169203331-01`,
    },
    body: JSON.stringify({ model: 'demo-echo', message: 'the-secret-prompt', wait: true }),
  });
  expect(answer.status).toBe(200);
  await answer.text();
  running.signal('SIGTERM');
  expect(await running.ended).toEqual({ code: 0, signal: null });

  const lines = running.stderr().match(/^span .*$/gm) ?? [];
  const spans = lines.map((line) => JSON.parse(line.slice('span '.length)) as Span);
  const named = (name: string): Span | undefined =>
    spans.find((span) => span.name === name && span.traceId === traceId);
  const request = named('POST /api/chat');
  const call = named('chat demo-echo');
  const job = spans.find(({ spanId }) => spanId === call?.parent);
  expect(request?.parent).toBe('b7ad6b7169203331');
  expect(job?.parent).toBe(request?.spanId);
  expect(job?.name).toMatch(/^process /);
  expect(call?.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'demo-echo',
    'gen_ai.response.finish_reasons': ['stop'],
  });
  expect(lines.join('\n')).not.toMatch(new RegExp(`the-prompt|${key}`));
});
