/** A network that is not the open internet: address, prefix length, and what it is for. */
export type SpecialNetwork = readonly [address: string, prefix: number, purpose: string];

/**
 * Every entry of the IANA IPv4 Special-Purpose Address Registry, multicast, and addresses at which cloud
 * hosts serve metadata.
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 */
export const SPECIAL_IPV4: readonly SpecialNetwork[] = [
  ['0.0.0.0', 8, 'this network, RFC 791'],
  ['10.0.0.0', 8, 'private use, RFC 1918'],
  ['100.64.0.0', 10, 'shared address space, RFC 6598'],
  ['127.0.0.0', 8, 'loopback, RFC 1122'],
  ['168.63.129.16', 32, 'Azure host service'],
  ['169.254.0.0', 16, 'link local and cloud metadata, RFC 3927'],
  ['172.16.0.0', 12, 'private use, RFC 1918'],
  ['192.0.0.0', 24, 'IETF protocol assignments, RFC 6890'],
  ['192.0.2.0', 24, 'documentation, RFC 5737'],
  ['192.31.196.0', 24, 'AS112, RFC 7535'],
  ['192.52.193.0', 24, 'AMT, RFC 7450'],
  ['192.88.99.0', 24, '6to4 relay anycast, RFC 7526'],
  ['192.168.0.0', 16, 'private use, RFC 1918'],
  ['192.175.48.0', 24, 'direct delegation AS112, RFC 7534'],
  ['198.18.0.0', 15, 'benchmarking, RFC 2544'],
  ['198.51.100.0', 24, 'documentation, RFC 5737'],
  ['203.0.113.0', 24, 'documentation, RFC 5737'],
  ['224.0.0.0', 4, 'multicast, RFC 5771'],
  ['240.0.0.0', 4, 'reserved and limited broadcast, RFC 1112'],
];

/**
 * Every entry of the IANA IPv6 Special-Purpose Address Registry, multicast and site-local addresses.
 * @see https://www.iana.org/assignments/iana-ipv6-special-registry
 */
export const SPECIAL_IPV6: readonly SpecialNetwork[] = [
  ['::', 96, 'unspecified, loopback and IPv4-compatible, RFC 4291'],
  ['::ffff:0:0', 96, 'IPv4-mapped, RFC 4291'],
  ['64:ff9b::', 96, 'IPv4-IPv6 translation, RFC 6052'],
  ['64:ff9b:1::', 48, 'IPv4-IPv6 translation, RFC 8215'],
  ['100::', 64, 'discard only, RFC 6666'],
  ['100:0:0:1::', 64, 'dummy prefix, RFC 9780'],
  ['2001::', 23, 'IETF protocol assignments, RFC 2928'],
  ['2001:db8::', 32, 'documentation, RFC 3849'],
  ['2002::', 16, '6to4, RFC 3056'],
  ['2620:4f:8000::', 48, 'direct delegation AS112, RFC 7534'],
  ['3fff::', 20, 'documentation, RFC 9637'],
  ['5f00::', 16, 'segment routing SIDs, RFC 9602'],
  ['fc00::', 7, 'unique local, RFC 4193'],
  ['fe80::', 10, 'link local, RFC 4291'],
  ['fec0::', 10, 'site local, RFC 3879'],
  ['ff00::', 8, 'multicast, RFC 4291'],
];
