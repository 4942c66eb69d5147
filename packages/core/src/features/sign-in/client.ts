import { isIPv6 } from 'node:net';

const MAPPED = /^::ffff:(\d+(?:\.\d+){3})$/i;
/** Number of 16-bit groups in an IPv6 network prefix. */
const NETWORK_GROUPS = 4;

/**
 * Identifies the client by its network address. A single machine has 2^64 IPv6 addresses or more: they count as one
 * client, because otherwise a limit per address would be ineffective.
 */
export function getClient(address: string | undefined): string | undefined {
  const plain = address?.replace(/%.*$/, '');
  if (plain === undefined || !isIPv6(plain)) return plain;
  const [, mapped] = MAPPED.exec(plain) ?? [];
  if (mapped !== undefined) return mapped;
  const [head = '', tail] = plain.split('::');
  const left = getGroups(head);
  const zeros = tail === undefined ? 0 : 8 - left.length - getGroups(tail).length;
  const groups = [...left, ...Array<string>(zeros).fill('0'), ...getGroups(tail ?? '')];
  const network = groups.slice(0, NETWORK_GROUPS).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}

function getGroups(text: string): string[] {
  return text === '' ? [] : text.split(':');
}
