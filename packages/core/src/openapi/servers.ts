import { type ApiRequest, header } from '../http/message.ts';

/** A name or address, perhaps with a port: nothing that could say more than where we are. */
const HOST = /^(?:[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * Where the api is: what the host says, else where this request came to. Without a usable `Host`, the description's own
 * origin.
 */
export function serverUrl(publicUrl: string | undefined, request: ApiRequest): string {
  const { headers, mountPath } = request;
  if (publicUrl !== undefined) return `${publicUrl.replace(/\/+$/, '')}${mountPath}`;
  const host = header(headers, 'host');
  if (host === undefined || !HOST.test(host)) return mountPath === '' ? '/' : mountPath;
  return `${protocolOf(request)}://${host.toLowerCase()}${mountPath}`;
}

function protocolOf({ headers, protocol }: ApiRequest): string {
  const forwarded = header(headers, 'x-forwarded-proto')?.split(',', 1)[0]?.trim().toLowerCase();
  return forwarded === 'http' || forwarded === 'https' ? forwarded : protocol;
}
