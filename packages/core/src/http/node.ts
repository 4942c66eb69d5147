import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { answer } from './answer.ts';
import type { ApiResponse, Mountable } from './message.ts';
import { type HostRequest, NodeRequest } from './node-request.ts';
import { sendNodeResponse } from './node-response.ts';

export interface MountOptions {
  /** Where the api is mounted, e.g. `/ai`: no slash at its end. Default: at the root. */
  readonly mountPath?: string;
}

const NOT_FOUND: ApiResponse = {
  status: 404,
  headers: { 'Content-Type': 'application/json; charset=utf-8' },
  body: '{"error":"Not found"}',
};

/**
 * A listener for `http.createServer`, or for a server's `request` event.
 * @param fallback gets every request that is not the api's, untouched. Default: 404.
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
    // A parser called by hand in front of us leaves its `body` here, as it does in Express.
    const host: HostRequest = incoming as IncomingMessage & { body?: unknown };
    const request = new NodeRequest(incoming, outgoing, { mountPath, target, host });
    void answer(api, request).then((response) => {
      if (response === undefined) fallback(incoming, outgoing);
      else sendNodeResponse(response, incoming, outgoing);
    });
  };
}

/** The part of a path (with or without a query) below a mount point; undefined when it is not below. */
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
