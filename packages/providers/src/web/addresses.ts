import { BlockList, isIP } from 'node:net';
import { SPECIAL_IPV4, SPECIAL_IPV6 } from './special-addresses.ts';

// A list of both would contain every IPv4 address: Node looks for it in the network of IPv4-mapped addresses, too.
const special4 = new BlockList();
for (const [address, prefix] of SPECIAL_IPV4) special4.addSubnet(address, prefix, 'ipv4');
const special6 = new BlockList();
for (const [address, prefix] of SPECIAL_IPV6) special6.addSubnet(address, prefix, 'ipv6');

/** Whether an address belongs to the public internet: not private, loopback, link-local, multicast or reserved. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !special4.check(address, 'ipv4');
  if (family !== 6) return false;
  // Check the embedded address of an IPv4-mapped IPv6 address, which resolvers write with dots.
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return isPublicAddress(mapped);
  return !special6.check(address, 'ipv6');
}
