import { isIPv6 } from 'node:net';

const MAPPED = /^::ffff:(\d+(?:\.\d+){3})$/i;
/** Groups of 16 bits that a network is known by. */
const NETWORK_GROUPS = 4;

/**
 * Who a request comes from, as far as its address says. One machine has 2^64 addresses of IPv6 and more: they are one
 * client, else no ceiling per address would hold for whoever has some.
 */
export function clientOf(address: string | undefined): string | undefined {
  const plain = address?.replace(/%.*$/, '');
  if (plain === undefined || !isIPv6(plain)) return plain;
  const [, mapped] = MAPPED.exec(plain) ?? [];
  if (mapped !== undefined) return mapped;
  const [head = '', tail] = plain.split('::');
  const left = groupsOf(head);
  const zeros = tail === undefined ? 0 : 8 - left.length - groupsOf(tail).length;
  const groups = [...left, ...Array<string>(Math.max(0, zeros)).fill('0'), ...groupsOf(tail ?? '')];
  const network = groups.slice(0, NETWORK_GROUPS).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':');
}
