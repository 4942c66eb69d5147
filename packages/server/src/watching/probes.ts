import { createHash, timingSafeEqual } from 'node:crypto';
import { type ApiRequest, type ApiResponse, header, type Mountable } from '@questline/core';
import type { Readiness } from './readiness.ts';

const READY = '/ready';
const METRICS = '/metrics';

export interface ProbesOptions {
  readonly readiness: Readiness;
  /** Absent: there are none to be had, and the path is nobody's. */
  readonly metrics?: {
    readonly token: string;
    read(): Promise<{ readonly type: string; readonly text: string }>;
  };
}

/** What those ask who run the server, beside the api: whether it is ready, and how it does. */
export function createProbes({ readiness, metrics }: ProbesOptions): Mountable {
  return {
    async handle(request) {
      const { path } = request;
      if (path !== READY && (path !== METRICS || metrics === undefined)) return undefined;
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        return json(
          405,
          { error: `${request.method} is not allowed here; use GET, HEAD` },
          { Allow: 'GET, HEAD' },
        );
      }
      if (path === READY || metrics === undefined) return ready(readiness);
      if (!bears(request, metrics.token)) {
        return json(
          401,
          { error: 'METRICS_TOKEN is wanted as a bearer token' },
          { 'WWW-Authenticate': 'Bearer' },
        );
      }
      const { type, text } = await metrics.read();
      return { status: 200, headers: { 'Content-Type': type, 'Cache-Control': 'no-store' }, body: text };
    },
  };
}

/** Asked so often that only what is unusual about it belongs into the log. */
export function isRoutine(path: string, status: number): boolean {
  return status === 200 && (path === READY || path === METRICS);
}

async function ready(readiness: Readiness): Promise<ApiResponse> {
  const state = await readiness.look();
  return state.status === 'ready' ? json(200, state) : json(503, state, { 'Retry-After': '5' });
}

/** Compares hashes, which are of one length and tell nothing about how much of a guess was right. */
function bears(request: ApiRequest, token: string): boolean {
  const [, given = ''] = /^bearer +(\S+)$/i.exec(header(request.headers, 'authorization') ?? '') ?? [];
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): ApiResponse {
  return {
    status,
    headers: { ...headers, 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' },
    body: JSON.stringify(body),
  };
}
