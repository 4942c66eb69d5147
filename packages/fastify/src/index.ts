import { Readable } from 'node:stream';
import type { ApiResponse, Mountable } from '@questline/core';
import {
  answer,
  below,
  discard,
  headersWithLength,
  isBodiless,
  isStreamed,
  NodeRequest,
  sendNodeResponse,
  toReadable,
  UNEXPECTED,
} from '@questline/core/bridge';
import type {
  FastifyInstance,
  FastifyPluginCallback,
  FastifyReply,
  FastifyRequest,
  HTTPMethods,
  preParsingHookHandler,
} from 'fastify';

export interface ToFastifyOptions {
  /** Where the api is mounted, e.g. `/ai`. Default: at the root. */
  readonly prefix?: string;
  /** Mounts one route at a path of the host's own, e.g. `/ask/:id`; its parameters go to the route. */
  readonly url?: string;
  /** With `url`. Default `POST`. */
  readonly method?: HTTPMethods | HTTPMethods[];
}

/**
 * Mounts an api into Fastify 5: `app.register(toFastify(api))`, `app.register(toFastify(api), { prefix: '/ai' })`, or one
 * route: `app.register(toFastify(route), { method: 'POST', url: '/ask/:id' })`.
 */
export function toFastify(api: Mountable): FastifyPluginCallback<ToFastifyOptions> {
  const plugin: FastifyPluginCallback<ToFastifyOptions> = (instance, options, done) => {
    if (options.url === undefined) mountApi(api, instance, options.prefix ?? '');
    else mountRoute(api, instance, `${options.prefix ?? ''}${options.url}`, options.method ?? 'POST');
    done();
  };
  // Runs in the host's own context: only there it hears of requests for which the host has no route.
  return Object.assign(plugin, {
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: '@questline/fastify',
  });
}

/**
 * Routes of ours would have to be wildcards: they would clash with the host's own, and could not pass a request on with
 * its body unread. So this is a hook: it looks at requests the host has no route for, or only its catch-all.
 */
function mountApi(api: Mountable, instance: FastifyInstance, prefix: string): void {
  const mountPath = `${instance.prefix}${prefix}`.replace(/\/+$/, '');
  const catchAlls = new Set(['*', '/*', `${instance.prefix}/*`, `${mountPath}/*`, mountPath]);
  const hook: preParsingHookHandler = (request, reply, payload, done) => {
    const { is404, routeOptions, raw } = request;
    const target =
      is404 || catchAlls.has(routeOptions.url ?? '') ? below(mountPath, raw.url ?? '/') : undefined;
    if (target === undefined) {
      done();
      return;
    }
    const asked = new NodeRequest(raw, reply.raw, {
      mountPath,
      target,
      host: request,
      source: payload as Readable,
    });
    void answer(api, asked).then((response) => {
      if (response === undefined) done();
      else send(response, request, reply);
    });
  };
  instance.addHook('preParsing', hook);
  // Fastify runs hooks for unknown paths at the root only; below a prefix it needs a route.
  if (instance.prefix !== '') routeAll(instance, prefix);
}

function routeAll(instance: FastifyInstance, prefix: string): void {
  instance.register((own, _options, done) => {
    leaveBodiesAlone(own);
    own.all(`${prefix}/*`, (_request, reply) => reply.callNotFound());
    if (prefix !== '') own.all(prefix, (_request, reply) => reply.callNotFound());
    done();
  });
}

function mountRoute(
  route: Mountable,
  instance: FastifyInstance,
  url: string,
  method: HTTPMethods | HTTPMethods[],
): void {
  instance.register((own, _options, done) => {
    leaveBodiesAlone(own);
    own.route({
      method,
      url,
      async handler(request, reply) {
        const asked = new NodeRequest(request.raw, reply.raw, {
          mountPath: own.prefix,
          target: below(own.prefix, request.raw.url ?? '/') ?? '/',
          host: request,
          source: (request.body as Readable | undefined) ?? request.raw,
          params: request.params as Record<string, string>,
        });
        const response = await answer(route, asked);
        if (response === undefined) reply.callNotFound();
        else send(response, request, reply);
        return reply;
      },
    });
    done();
  });
}

/** In a context of our own: the host's parsers and its body limit stay the host's. */
function leaveBodiesAlone(own: FastifyInstance): void {
  own.removeAllContentTypeParsers();
  own.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
}

function send(response: ApiResponse, request: FastifyRequest, reply: FastifyReply): void {
  // The client has disconnected, or the host has answered.
  if (reply.sent || reply.raw.destroyed) {
    discard(response.body);
    return;
  }
  const { status, headers, body } = response;
  const bodiless = request.method === 'HEAD' || isBodiless(status);
  if (bodiless) discard(body);
  const payload = isStreamed(body) && !bodiless ? toReadable(body, request.raw, reply.raw) : body;
  try {
    reply.code(status).headers(isStreamed(body) ? headers : headersWithLength(response, bodiless));
    if (bodiless) reply.send();
    // With a serializer of its own, text is sent as it is; without, Fastify would complete its content type.
    else reply.serializer(asItIs).send(payload);
  } catch {
    // A header that cannot be written.
    if (payload instanceof Readable) payload.destroy();
    sendNodeResponse(UNEXPECTED, request.raw, reply.raw);
  }
}

function asItIs(payload: unknown): string {
  return payload as string;
}
