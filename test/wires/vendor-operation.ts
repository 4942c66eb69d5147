import type { Mountable, Route } from '@questline/core';
import type { Outcome, ServedOperation, WireOperation, WireRequest } from './wire.ts';

/** The routes of a vendor's wire, as the table reads them. */
export function listRoutes({ routes }: Mountable & { readonly routes: readonly Route[] }): ServedOperation[] {
  return routes.map(({ operation: { id, counterpart = '', paid, idempotent, scopes } }) => ({
    id,
    counterpart,
    isPaid: paid === true,
    isIdempotent: idempotent === true,
    needsScope: scopes.length > 0,
  }));
}

export interface VendorRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** JSON, or a form. */
  readonly body?: (request: WireRequest) => unknown;
}

/** Creates the operations of a wire. @param base the address of its paths. @param readName reads the name of an error. */
export function vendorOperations(base: string, readName: (body: string) => unknown) {
  return (
    operation: Omit<WireOperation, 'send' | 'title'> & VendorRequest & { readonly title?: string },
  ): WireOperation => {
    const { method, path, body, title = `${method} ${path}`, ...rest } = operation;
    return {
      ...rest,
      title,
      async send(request): Promise<Outcome> {
        const { credential, headers, subject } = request;
        const content = body?.(request);
        const isForm = content instanceof FormData;
        const sent = new Request(`http://questline.test${base}${path.replace('{subject}', subject)}`, {
          method,
          headers: {
            ...(credential !== null && { Authorization: `Bearer ${credential}` }),
            ...(content !== undefined && !isForm && { 'Content-Type': 'application/json' }),
            ...headers,
          },
          ...(content !== undefined && { body: isForm ? content : JSON.stringify(content) }),
        });
        const response = await request.handle(sent);
        const text = await response.text();
        const { status } = response;
        return { status, name: status < 400 ? null : readName(text), text, headers: response.headers };
      },
    };
  };
}
