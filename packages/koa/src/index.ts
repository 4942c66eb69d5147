import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiResponse, Mountable } from '@questline/core';
import {
  answer,
  discard,
  type HostRequest,
  isBodiless,
  isStreamed,
  NodeRequest,
  toReadable,
  UNEXPECTED,
} from '@questline/core/bridge';

/** The required part of a Koa context, the same in versions 2 and 3. */
export interface KoaContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly request: HostRequest;
  readonly originalUrl: string;
  readonly url: string;
  readonly method: string;
  readonly headerSent: boolean;
  status: number;
  body: unknown;
  set(fields: Record<string, string>): void;
  remove(field: string): void;
  readonly response: { has(field: string): boolean };
  /** Set by a router that found a route of its own. */
  readonly params?: Readonly<Record<string, string>>;
  readonly _matchedRoute?: unknown;
}

export type KoaMiddleware = (context: KoaContext, next: () => Promise<unknown>) => Promise<unknown>;

/**
 * Mounts an api into Koa 2 or 3: `app.use(toKoa(api))`, `app.use(mount('/ai', toKoa(api)))`, or one route in a router:
 * `router.post('/ask/:id', toKoa(route))`. A request that is not the api's goes on to the next middleware.
 */
export function toKoa(api: Mountable): KoaMiddleware {
  return async (context, next) => {
    const { req, res, request, url, _matchedRoute } = context;
    const asked = new NodeRequest(req, res, {
      mountPath: getMountPath(context.originalUrl, url),
      target: url,
      host: request,
      params: _matchedRoute === undefined ? undefined : context.params,
    });
    const response = await answer(api, asked);
    if (response === undefined) return next();
    try {
      show(context, response);
    } catch {
      // A header that cannot be written.
      discard(response.body);
      show(context, UNEXPECTED);
    }
    return undefined;
  };
}

function show(context: KoaContext, response: ApiResponse): void {
  const { status, headers, body } = response;
  context.status = status;
  // The client has disconnected, or the host has answered: an empty body makes Koa write nothing.
  if (context.res.destroyed || context.headerSent) {
    discard(body);
    context.body = '';
    return;
  }
  context.set(headers);
  if (isBodiless(status) || (context.method === 'HEAD' && (body === undefined || isStreamed(body)))) {
    discard(body);
    return;
  }
  const typed = context.response.has('Content-Type');
  context.body = bodyFor(context, body);
  // Koa sets a default content type; remove it.
  if (!typed) context.remove('Content-Type');
}

function bodyFor({ req, res }: KoaContext, body: ApiResponse['body']): unknown {
  if (isStreamed(body)) return toReadable(body, req, res);
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return body ?? '';
}

/** Koa keeps the URL as it came; what a mount cut off its front is where we are. */
function getMountPath(originalUrl: string, url: string): string {
  if (originalUrl === url) return '';
  if (originalUrl.endsWith(url)) return originalUrl.slice(0, -url.length);
  // `/ai?x` below `/ai` has become `/?x`.
  const rest = url.slice(1);
  return originalUrl.endsWith(rest) ? originalUrl.slice(0, originalUrl.length - rest.length) : '';
}
