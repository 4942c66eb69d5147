import type { ApiRequest, ApiResponse, Mountable } from '@questline/core';

/** How long a browser remembers a preflight, in seconds. */
const MAX_AGE = '7200';

/**
 * Lets pages of other origins call a service from a browser. Credentials travel in headers, never in cookies, so an
 * origin gains only what its own page sends.
 */
export function withCors(service: Mountable, allowed: '*' | readonly string[]): Mountable {
  return {
    async handle(request) {
      const { origin } = request.headers;
      if (typeof origin !== 'string') return service.handle(request);
      const isAllowed = allowed === '*' || allowed.includes(origin);
      if (isAllowed && isPreflight(request)) return preflight(request, origin);
      const response = await service.handle(request);
      return response === undefined || !isAllowed ? response : exposed(response, origin);
    },
  };
}

function isPreflight({ method, headers }: ApiRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

function preflight({ headers }: ApiRequest, origin: string): ApiResponse {
  return {
    status: 204,
    headers: {
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Methods': String(headers['access-control-request-method']),
      'Access-Control-Allow-Headers': String(headers['access-control-request-headers'] ?? ''),
      'Access-Control-Max-Age': MAX_AGE,
      Vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
    },
    body: '',
  };
}

function exposed(response: ApiResponse, origin: string): ApiResponse {
  const { Vary: vary } = response.headers;
  return {
    ...response,
    headers: {
      ...response.headers,
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Expose-Headers': '*',
      Vary: vary === undefined ? 'Origin' : `${vary}, Origin`,
    },
  };
}
