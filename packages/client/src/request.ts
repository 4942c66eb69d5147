import type { Operation } from './operation.ts';

type RequestBody = NonNullable<RequestInit['body']>;

/** The input of any operation. */
export interface AnyInput {
  readonly params?: Readonly<Record<string, string | number>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: unknown;
  /** A signed link of the API, with its permission in the query. */
  readonly link?: string;
}

/** @param baseUrl the address of the mount point without a slash at its end; empty: the origin of the page. */
export function toUrl(
  baseUrl: string,
  { path }: Operation,
  { params = {}, query = {}, link }: AnyInput,
): string {
  if (link !== undefined) return resolveLink(baseUrl, link);
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) search.append(name, String(one));
    }
  }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => toSegment(name, params[name]));
  const text = search.toString();
  return `${baseUrl}${filled}${text === '' ? '' : `?${text}`}`;
}

/** A link is a URL, or a path that contains the mount point. */
function resolveLink(baseUrl: string, link: string): string {
  if (!link.startsWith('/')) return link;
  return /^https?:\/\/[^/]+/.exec(baseUrl)?.[0].concat(link) ?? link;
}

function toSegment(name: string, value: string | number | undefined): string {
  const segment = String(value ?? '');
  // URLs resolve dots even if they are encoded, and the request would reach another operation.
  if (/^\.{0,2}$/.test(segment)) throw new TypeError(`params.${name}: expected an id, got '${segment}'`);
  return encodeURIComponent(segment);
}

/** The body of a request, and its content type unless `fetch` sets it. */
export function toBody(
  { method, isForm }: Operation,
  { body, link }: AnyInput,
): { readonly body?: RequestBody; readonly type?: string } {
  if (link !== undefined) {
    if (method === 'GET') return {};
    return { body: body as RequestBody };
  }
  if (method === 'GET' || body === undefined) return {};
  if (isForm === true) return { body: toForm(body as Record<string, unknown>) };
  return { body: JSON.stringify(body), type: 'application/json' };
}

function toForm(fields: Readonly<Record<string, unknown>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (value instanceof Blob) form.append(name, value);
    else if (value !== undefined) form.append(name, String(value));
  }
  return form;
}

/** 32 random hexadecimal characters. Pages without HTTPS have no `randomUUID`. */
export function createKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
