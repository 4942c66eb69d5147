import type { IncomingMessage } from 'node:http';

/** In a subprotocol, because browsers send no other header of one's own. */
const PREFIX = 'access_token.';

/** What somebody presents at the handshake. */
export interface Presented {
  /** Undefined: none, or two that differ. */
  readonly credential: string | undefined;
  /** Echoed when it carried the credential: a browser hangs up otherwise. */
  readonly protocol: string | undefined;
}

export function presentedBy(request: IncomingMessage): Presented {
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((one) => one.trim());
  const protocol = offered.find((one) => one.startsWith(PREFIX));
  const credentials = [...searchParams.getAll('token'), ...offered.filter((one) => one.startsWith(PREFIX))]
    .map((one) => (one.startsWith(PREFIX) ? one.slice(PREFIX.length) : one))
    .filter((one) => one !== '');
  const [credential] = credentials;
  const isOne = credentials.every((one) => one === credential);
  return { credential: isOne ? credential : undefined, protocol };
}
