import { Pool } from 'undici';
import type { Load } from './load.ts';

/** One client's sequence of requests. */
export type Scenario = (
  ask: (method: 'GET' | 'POST', path: string, body?: string) => Promise<string>,
) => Promise<void>;

const AUTHORIZATION = { authorization: `Bearer svc_live_${'k'.repeat(43)}` };
const WITH_BODY = { ...AUTHORIZATION, 'content-type': 'application/json' };

/** Runs the sequence `requests` times with the given parallelism; every response must be 200. */
export async function hammer(
  url: string,
  { requests, concurrency }: Load,
  scenario: Scenario,
): Promise<number> {
  const pool = new Pool(url, { connections: concurrency, pipelining: 1 });
  let left = requests;
  const started = performance.now();
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await scenario(async (method, path, body) => {
        const headers = body === undefined ? AUTHORIZATION : WITH_BODY;
        const answer = await pool.request({ method, path, headers, ...(body !== undefined && { body }) });
        const text = await answer.body.text();
        if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
        return text;
      });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  await pool.close();
  return (performance.now() - started) / 1000;
}
