import { readFile } from 'node:fs/promises';
import type { ApiRequest, ApiResponse, Mountable } from '@questline/core';

export interface ConsoleSettings {
  /** Below the mount point. Default `/`: the page, and `/console.js`, `/console.css` and `/icon.svg` beside it. */
  readonly path?: string;
  /** Other origins the page may exchange bytes with, e.g. an object store's that signs its own addresses. */
  readonly connectTo?: readonly string[];
}

interface Asset {
  readonly name: string;
  readonly type: string;
}

const ASSETS: readonly Asset[] = [
  { name: 'index.html', type: 'text/html; charset=utf-8' },
  { name: 'console.js', type: 'text/javascript; charset=utf-8' },
  { name: 'console.css', type: 'text/css; charset=utf-8' },
  { name: 'icon.svg', type: 'image/svg+xml' },
];

/**
 * Serves the console: a page that talks to the api of its own origin and asks nobody else for anything. It holds no
 * secret; who opens it signs in. Any other path is not its own.
 */
export function createConsole({ path = '/', connectTo = [] }: ConsoleSettings = {}): Mountable {
  const base = path.endsWith('/') ? path : `${path}/`;
  const assets = new Map(ASSETS.map((asset) => [base + asset.name, asset]));
  const [page] = ASSETS;
  if (page !== undefined) assets.set(base, page);
  const read = new Map<string, Promise<Uint8Array>>();
  const policy = contentPolicy(connectTo);

  return {
    async handle(request: ApiRequest): Promise<ApiResponse | undefined> {
      const asset = assets.get(request.path);
      if (asset === undefined || !['GET', 'HEAD'].includes(request.method)) return undefined;
      // The app lies beside the built code, and beside the folder of the sources too.
      const body = read.get(asset.name) ?? readFile(new URL(`../dist/app/${asset.name}`, import.meta.url));
      read.set(asset.name, body);
      body.catch(() => read.delete(asset.name));
      return {
        status: 200,
        headers: {
          'Content-Type': asset.type,
          'Cache-Control': 'no-cache',
          'Content-Security-Policy': policy,
          'X-Content-Type-Options': 'nosniff',
          'X-Frame-Options': 'DENY',
          'Referrer-Policy': 'no-referrer',
        },
        body: request.method === 'HEAD' ? undefined : await body,
      };
    },
  };
}

function contentPolicy(connectTo: readonly string[]): string {
  const elsewhere = connectTo.map((origin) => ` ${origin}`).join('');
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data: blob:${elsewhere}`,
    `media-src 'self' blob:${elsewhere}`,
    `connect-src 'self'${elsewhere}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
