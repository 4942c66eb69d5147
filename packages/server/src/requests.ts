import type { RequestListener } from 'node:http';
import type { ApiResponse, Mountable } from '@questline/core';
import { answer, isStreamed, NodeRequest, sendNodeResponse } from '@questline/core/bridge';
import { forwardedFor } from './forwarded.ts';
import type { Log } from './log.ts';
import type { Operations } from './watching/operations.ts';
import { isRoutine } from './watching/probes.ts';
import type { RequestsWatch } from './watching/requests-watch.ts';

export interface RequestsOptions {
  readonly log: Log;
  /** Believe what a proxy in front says about the client's address. */
  readonly trustProxy: boolean;
  readonly operations?: Operations;
  readonly watch?: RequestsWatch | undefined;
}

/** An api behind `node:http`, with one line in the log per answer. */
export interface Requests {
  readonly listener: RequestListener;
  /** Resolves when the calls under way now have been answered or given up, money included. */
  settled(): Promise<void>;
}

const NOT_FOUND: ApiResponse = {
  status: 404,
  headers: { 'Content-Type': 'application/json; charset=utf-8' },
  body: '{"error":"Not found"}',
};

export function createRequests(
  api: Mountable,
  { log, trustProxy, operations, watch }: RequestsOptions,
): Requests {
  const underWay = new Set<Promise<unknown>>();
  /** An api tells of its own failures. What breaks beside it, e.g. a page whose file is gone, nobody else would. */
  const told: Mountable = {
    async handle(request) {
      try {
        return await api.handle(request);
      } catch (error) {
        log.error({ method: request.method, path: request.path, error }, 'not answered');
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
            // Without the query, which may carry a token.
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
      const call = answer(told, request).then((response = NOT_FOUND) => {
        underWay.delete(call);
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
