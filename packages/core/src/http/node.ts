import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ApiResponse, Mountable } from '../contract/message.ts';
import { answer } from './answer.ts';
import { type HostRequest, NodeRequest } from './node-request.ts';
import { sendNodeResponse } from './node-response.ts';

/** Options of `toNodeListener` and `toFetchHandler`. */
export interface MountOptions {
  /** Mount path of the API, e.g. `/ai`, without a trailing slash. Default: the root. */
  readonly mountPath?: string;
}

const NOT_FOUND: ApiResponse = {
  status: 404,
  headers: { 'Content-Type': 'application/json; charset=utf-8' },
  body: '{"error":"Not found"}',
};

/**
 * Returns a listener for `http.createServer` or for the `request` event of a server.
 * @param fallback handles every request that is not part of the API. Default: 404.
 */
export function toNodeListener(
  api: Mountable,
  fallback: RequestListener = notFound,
  { mountPath = '' }: MountOptions = {},
): RequestListener {
  return (incoming, outgoing) => {
    const target = below(mountPath, incoming.url ?? '/');
    if (target === undefined) {
      fallback(incoming, outgoing);
      return;
    }
    // A body parser that ran before sets `body`, as in Express.
    const host: HostRequest = incoming as IncomingMessage & { body?: unknown };
    const request = new NodeRequest(incoming, outgoing, { mountPath, target, host });
    void answer(api, request).then((response) => {
      if (response === undefined) fallback(incoming, outgoing);
      else sendNodeResponse(response, incoming, outgoing);
    });
  };
}

/** Returns the part of a path (with or without a query) below a mount point; undefined if it is not below. */
export function below(mountPath: string, target: string): string | undefined {
  if (mountPath === '') return target;
  if (!target.startsWith(mountPath)) return undefined;
  const rest = target.slice(mountPath.length);
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : undefined;
}

function notFound(incoming: IncomingMessage, outgoing: ServerResponse): void {
  sendNodeResponse(NOT_FOUND, incoming, outgoing);
}
