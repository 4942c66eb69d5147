import { type ApiRequest, header } from '../../contract/message.ts';

/** A host name or address with an optional port, and nothing else. */
const HOST = /^(?:[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * Returns the base URL of the API: `publicUrl`, else the URL of this request. Without a valid `Host`, a path relative
 * to the description.
 */
export function serverUrl(publicUrl: string | undefined, request: ApiRequest): string {
  const { headers, mountPath } = request;
  if (publicUrl !== undefined) return `${publicUrl.replace(/\/+$/, '')}${mountPath}`;
  const host = header(headers, 'host');
  if (host === undefined || !HOST.test(host)) return mountPath === '' ? '/' : mountPath;
  return `${getProtocol(request)}://${host.toLowerCase()}${mountPath}`;
}

function getProtocol({ headers, protocol }: ApiRequest): string {
  const forwarded = header(headers, 'x-forwarded-proto')?.split(',', 1)[0]?.trim().toLowerCase();
  return forwarded === 'http' || forwarded === 'https' ? forwarded : protocol;
}
