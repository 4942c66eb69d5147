import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { ApiResponse, Mountable } from '@questline/core';
import { answer, getRequestId, isStreamed, NodeRequest, sendNodeResponse } from '@questline/core/bridge';
import { forwardedFor } from './forwarded.ts';
import type { Log } from './log.ts';
import type { Operations } from './observability/operations.ts';
import { isRoutine } from './observability/probes.ts';
import type { RequestsObserver } from './observability/requests.ts';

export interface RequestsOptions {
  readonly log: Log;
  /** Trust the client address that a proxy in front reports. */
  readonly trustProxy: boolean;
  readonly operations?: Operations;
  readonly watch?: RequestsObserver | undefined;
}

/** Serves an api with `node:http`, and logs one line per response. */
export interface Requests {
  readonly listener: RequestListener;
  /** Resolves when every open call has finished or is abandoned, including its credits. */
  settled(): Promise<void>;
}

const NOT_FOUND: ApiResponse = {
  status: 404,
  headers: { 'Content-Type': 'application/json; charset=utf-8' },
  body: '{"error":"Not found"}',
};

/** Pages that are not part of the api have no correlation id of their own. */
function withRequestId(response: ApiResponse, { headers }: NodeRequest): ApiResponse {
  if (response.headers['X-Request-ID'] !== undefined) return response;
  const id = getRequestId(headers, randomUUID);
  return { ...response, headers: { ...response.headers, 'X-Request-ID': id } };
}

export function createRequests(
  api: Mountable,
  { log, trustProxy, operations, watch }: RequestsOptions,
): Requests {
  const underWay = new Set<Promise<unknown>>();
  /** The api reports its own failures. This one reports failures of other routes, e.g. of a static page. */
  const reported: Mountable = {
    async handle(request) {
      try {
        return await api.handle(request);
      } catch (error) {
        log.error({ method: request.method, path: request.path, error }, 'request failed');
        throw error;
      }
    },
  };

  return {
    listener(incoming, outgoing) {
      const started = performance.now();
      const host = trustProxy ? { ip: forwardedFor(incoming) } : undefined;
      const request = new NodeRequest(incoming, outgoing, host && { host });
      let requestId: string | undefined;
      let streamed = false;
      watch?.opened();
      outgoing.once('close', () => {
        const { method, path } = request;
        const ms = performance.now() - started;
        const status = outgoing.headersSent ? outgoing.statusCode : undefined;
        const operation = operations?.of(request);
        watch?.ended({ operation, method, status: status ?? 0, ms, streamed });
        if (isRoutine(path, status ?? 0)) return;
        log.info(
          {
            method,
            // Without the query, which may contain a token.
            path,
            operation,
            status,
            ms: Math.round(ms),
            requestId,
            ...(!outgoing.writableFinished && { left: true }),
          },
          'request',
        );
      });
      const call = answer(reported, request).then((found = NOT_FOUND) => {
        underWay.delete(call);
        const response = withRequestId(found, request);
        requestId = response.headers['X-Request-ID'];
        if (isStreamed(response.body) && !outgoing.closed) {
          streamed = true;
          watch?.streamed();
        }
        sendNodeResponse(response, incoming, outgoing);
      });
      underWay.add(call);
    },
    async settled() {
      await Promise.allSettled(underWay);
    },
  };
}
