import type { ApiRequest, ApiResponse, Mountable } from '@questline/core';
import { createAppFiles } from './files.ts';
import { FRAME_POLICY, pagePolicy } from './policy.ts';
import { type ConsoleSettings, getHiddenPages } from './settings.ts';

export type { ConsoleSettings, HostCookies, HostSession, HostTokens, OfferedRoutes } from './settings.ts';

const PAGE = 'index.html';
const FRAME = 'diagram.html';
/** The address that a device shows to its user: short, and without a fragment. */
const DEVICE = 'device';

/**
 * Serves the console: a page that calls only the API of its own origin (and `connectTo`). It contains no secret; users
 * sign in. Every other path is passed on.
 */
export function createConsole(settings: ConsoleSettings = {}): Mountable {
  const { path = '/', connectTo = [] } = settings;
  const base = path.endsWith('/') ? path : `${path}/`;
  const read = createAppFiles();
  const policy = pagePolicy(connectTo);
  const configuration = describe(base, settings);

  return {
    async handle(request: ApiRequest): Promise<ApiResponse | undefined> {
      if (!['GET', 'HEAD'].includes(request.method)) return undefined;
      if (`${request.path}/` === base) return redirect(`${request.mountPath}${base}`, request.query);
      if (!request.path.startsWith(base)) return undefined;
      if (request.path === base + DEVICE) return toDevicePage(request, base);
      const name = request.path.slice(base.length) || PAGE;
      const file = await read(name);
      if (file === undefined) return undefined;
      const body = name === PAGE ? withConfiguration(file.bytes, configuration) : file.bytes;
      return {
        status: 200,
        headers: {
          'Content-Type': file.type,
          // The names of chunks contain a hash of their content.
          'Cache-Control': /-[0-9A-Z]{8}\.js$/.test(name)
            ? 'public, max-age=31536000, immutable'
            : 'no-cache',
          'Content-Security-Policy': name === FRAME ? FRAME_POLICY : policy,
          'X-Content-Type-Options': 'nosniff',
          'X-Frame-Options': name === FRAME ? 'SAMEORIGIN' : 'DENY',
          'Referrer-Policy': 'no-referrer',
          // The frame has no origin, so its modules need leave; they are public.
          ...(name.endsWith('.js') && { 'Access-Control-Allow-Origin': '*' }),
        },
        body: request.method === 'HEAD' ? undefined : body,
      };
    },
  };
}

/** `/device?code=…` is the page at `#/device/…`. */
function toDevicePage({ mountPath, query }: ApiRequest, base: string): ApiResponse {
  const code = new URLSearchParams(query).get('code') ?? '';
  const location = `${mountPath}${base}#/device/${encodeURIComponent(code.slice(0, 50))}`;
  return { status: 302, headers: { Location: location, 'Cache-Control': 'no-store' }, body: undefined };
}

function redirect(path: string, query: string): ApiResponse {
  const location = query === '' ? path : `${path}?${query}`;
  return { status: 308, headers: { Location: location, 'Cache-Control': 'no-cache' }, body: undefined };
}

/** What the page must know, as JSON. */
function describe(base: string, { session, api }: ConsoleSettings): string {
  return JSON.stringify({
    // From the page's folder to the root of the API.
    root:
      base === '/'
        ? '.'
        : base
            .split('/')
            .slice(2)
            .map(() => '..')
            .join('/'),
    hidden: getHiddenPages(api),
    ...(session !== undefined && { session }),
  });
}

function withConfiguration(page: Uint8Array, configuration: string): string {
  const content = configuration.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  const html = new TextDecoder().decode(page);
  return html.replace('</head>', () => `  <meta name="questline-console" content="${content}">\n  </head>`);
}
