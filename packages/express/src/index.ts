import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Mountable } from '@questline/core';
import { answer, NodeRequest, sendNodeResponse } from '@questline/core/bridge';

/** The required part of an Express request, the same in versions 4 and 5. */
export interface ExpressRequest extends IncomingMessage {
  /** The path this handler is mounted at. */
  readonly baseUrl: string;
  readonly originalUrl: string;
  readonly ip?: string | undefined;
  readonly body?: unknown;
  /** Present below `app.get(path, …)` and its kind, absent below `app.use`. */
  readonly route?: unknown;
  /** Express 4: undefined for an optional part that the path does not have. */
  readonly params: Readonly<Record<string, string | readonly string[] | undefined>>;
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
      ...(incoming.route === undefined ? getMount(incoming) : { mountPath: incoming.baseUrl }),
      host: incoming,
      params: incoming.route === undefined ? undefined : textParams(incoming.params),
    });
    void answer(api, request).then((response) => {
      if (response === undefined) next();
      else sendNodeResponse(response, incoming, outgoing);
    });
  };
}

/**
 * Below a wildcard, such as `forRoutes('{*path}')` of NestJS, the base URL is the whole path: what the wildcard matched
 * belongs to the api.
 */
function getMount({ baseUrl, originalUrl, params }: ExpressRequest): { mountPath: string; target?: string } {
  // The root: a wildcard that matched something would be in the base URL.
  if (baseUrl === '') return { mountPath: '' };
  const segments = baseUrl.split('/');
  const matched = countWildcard(params, segments);
  if (matched === 0) return { mountPath: baseUrl };
  const mountPath = segments.slice(0, -matched).join('/');
  return { mountPath, target: originalUrl.slice(mountPath.length) };
}

/** Segments at the end of the base URL that a wildcard matched: a list in Express 5, text by number in Express 4. */
function countWildcard(params: ExpressRequest['params'], segments: readonly string[]): number {
  const last = Object.entries(params ?? {}).at(-1);
  if (last === undefined) return 0;
  const [name, value] = last;
  if (value === undefined) return 0;
  if (typeof value !== 'string') return value.length;
  const text = value.replace(/^\//, '');
  if (!/^\d+$/.test(name) || text === '') return 0;
  // The value is decoded, so its slashes do not count segments.
  for (let count = 1; count < segments.length; count += 1) {
    if (decode(segments.slice(-count).join('/')) === text) return count;
  }
  return 0;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Express 5 gives a wildcard as the list of its segments. A parameter without a value is left out. */
function textParams(params: ExpressRequest['params']): Record<string, string> {
  const text: Record<string, string> = {};
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined) text[name] = typeof value === 'string' ? value : value.join('/');
  }
  return text;
}
