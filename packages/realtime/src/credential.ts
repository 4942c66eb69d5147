import type { IncomingMessage } from 'node:http';

/** Sent as a subprotocol, because browsers allow no other custom header. */
const PREFIX = 'access_token.';

/** The credential in a handshake. */
export interface Presented {
  /** Undefined: no credential, or two that differ. */
  readonly credential: string | undefined;
  readonly isEmpty: boolean;
  /** Echoed if it carried the credential: browsers require that. */
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
  return { credential: isOne ? credential : undefined, isEmpty: credentials.length === 0, protocol };
}
