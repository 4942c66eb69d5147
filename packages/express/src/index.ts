import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Mountable } from '@questline/core';
import { answer, NodeRequest, sendNodeResponse } from '@questline/core/bridge';

/** What we need of Express's request; versions 4 and 5 agree on it. */
export interface ExpressRequest extends IncomingMessage {
  /** The path this handler is mounted at. */
  readonly baseUrl: string;
  readonly ip?: string | undefined;
  readonly body?: unknown;
  /** Present below `app.get(path, …)` and its kind, absent below `app.use`. */
  readonly route?: unknown;
  readonly params: Readonly<Record<string, string | readonly string[]>>;
}

export type ExpressHandler = (
  request: ExpressRequest,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Mounts an api into Express 4 or 5: `app.use(toExpress(api))`, `app.use('/ai', toExpress(api))`, or one route at a path
 * of your own: `app.post('/ask/:id', toExpress(route))`. A request that is not the api's goes on to the next handler.
 */
export function toExpress(api: Mountable): ExpressHandler {
  return (incoming, outgoing, next) => {
    const request = new NodeRequest(incoming, outgoing, {
      mountPath: incoming.baseUrl,
      host: incoming,
      params: incoming.route === undefined ? undefined : textParams(incoming.params),
    });
    void answer(api, request).then((response) => {
      if (response === undefined) next();
      else sendNodeResponse(response, incoming, outgoing);
    });
  };
}

/** Express 5 gives a wildcard as the list of its segments. */
function textParams(params: ExpressRequest['params']): Record<string, string> {
  const text: Record<string, string> = {};
  for (const [name, value] of Object.entries(params)) {
    text[name] = typeof value === 'string' ? value : value.join('/');
  }
  return text;
}
