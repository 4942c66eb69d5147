import { Pool } from 'undici';

const PROMPT = {
  model: 'gpt-bench',
  messages: [{ role: 'user', content: 'Tell me a short story about a lighthouse keeper and a storm.' }],
};

/** The path and the body of a streamed completion. */
const WIRES = {
  own: { path: '/api/ai/v1/completions', body: { ...PROMPT, options: { maxTokens: 256 } } },
  openai: { path: '/openai/v1/chat/completions', body: { ...PROMPT, stream: true, max_tokens: 256 } },
} as const;

export type Wire = keyof typeof WIRES;

export interface Load {
  readonly requests: number;
  readonly concurrency: number;
  /** Default `own`. */
  readonly wire?: Wire;
}

export interface LoadResult {
  readonly seconds: number;
  /** Milliseconds to the first byte of each body, sorted. */
  readonly firstByte: readonly number[];
}

/** Streams completions until `requests` are done; every answer must end with `[DONE]`. */
export async function complete(
  url: string,
  { requests, concurrency, wire = 'own' }: Load,
): Promise<LoadResult> {
  const pool = new Pool(url, {
    connections: concurrency,
    pipelining: 1,
    headersTimeout: 60_000,
    bodyTimeout: 0,
  });
  const request = toRequest(wire);
  const firstByte: number[] = [];
  let left = requests;
  const started = performance.now();
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      firstByte.push(await completeOnce(pool, request));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const seconds = (performance.now() - started) / 1000;
  await pool.close();
  return { seconds, firstByte: firstByte.sort((a, b) => a - b) };
}

async function completeOnce(pool: Pool, request: ReturnType<typeof toRequest>): Promise<number> {
  const sent = performance.now();
  const { statusCode, body } = await pool.request(request);
  let first = 0;
  let tail = '';
  for await (const chunk of body) {
    const text = String(chunk);
    if (first === 0 && text.includes('word')) first = performance.now() - sent;
    tail = (tail + text).slice(-16);
  }
  if (statusCode !== 200 || !tail.endsWith('[DONE]\n\n'))
    throw new Error(`status ${statusCode}, ended with ${tail}`);
  return first;
}

function toRequest(wire: Wire) {
  const { path, body } = WIRES[wire];
  return {
    path,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer svc_live_${'k'.repeat(43)}`,
    },
    body: JSON.stringify(body),
  } as const;
}

/** Opens streams and keeps them open; discards their content. */
export async function openStreams(url: string, count: number): Promise<() => Promise<void>> {
  const pool = new Pool(url, { connections: count, pipelining: 1, headersTimeout: 60_000, bodyTimeout: 0 });
  const request = toRequest('own');
  const batch = 100;
  for (let opened = 0; opened < count; opened += batch) {
    await Promise.all(
      Array.from({ length: Math.min(batch, count - opened) }, async () => {
        const { body } = await pool.request(request);
        body.on('error', () => undefined);
        body.resume();
      }),
    );
  }
  return () => pool.destroy();
}
