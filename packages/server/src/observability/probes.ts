import { createHash, timingSafeEqual } from 'node:crypto';
import type { ApiRequest, ApiResponse, Mountable } from '@questline/core';
import { header } from '@questline/core/internal';
import type { Readiness } from './readiness.ts';

const READY = '/ready';
const METRICS = '/metrics';

export interface ProbesOptions {
  readonly readiness: Readiness;
  /** Absent: metrics are off, and `/metrics` is not served. */
  readonly metrics?: {
    readonly token: string;
    read(): Promise<{ readonly type: string; readonly text: string }>;
  };
}

/** Endpoints for operators: readiness and metrics. */
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
        return json(401, { error: 'Send METRICS_TOKEN as a bearer token' }, { 'WWW-Authenticate': 'Bearer' });
      }
      const { type, text } = await metrics.read();
      return { status: 200, headers: { 'Content-Type': type, 'Cache-Control': 'no-store' }, body: text };
    },
  };
}

/** Requests so frequent that only unusual ones are logged. */
export function isRoutine(path: string, status: number): boolean {
  return status === 200 && (path === READY || path === METRICS);
}

async function ready(readiness: Readiness): Promise<ApiResponse> {
  const state = await readiness.check();
  return state.status === 'ready' ? json(200, state) : json(503, state, { 'Retry-After': '5' });
}

/** Compares hashes, which have one length: timing reveals nothing about the token. */
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
