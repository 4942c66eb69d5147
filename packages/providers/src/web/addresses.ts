import { BlockList, isIP } from 'node:net';
import { SPECIAL_IPV4, SPECIAL_IPV6 } from './special-addresses.ts';

const special = new BlockList();
for (const [address, prefix] of SPECIAL_IPV4) special.addSubnet(address, prefix, 'ipv4');
for (const [address, prefix] of SPECIAL_IPV6) special.addSubnet(address, prefix, 'ipv6');

/** Whether an address belongs to the public internet: not private, loopback, link-local, multicast or reserved. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !special.check(address, 'ipv4');
  if (family !== 6) return false;
  // Check the embedded address of an IPv4-mapped IPv6 address, which resolvers write with dots.
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return isPublicAddress(mapped);
  return !special.check(address, 'ipv6');
}
