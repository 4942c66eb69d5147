import { expect, it } from 'vitest';
import { getClient } from './client.ts';

it.each([
  [undefined, undefined],
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:192.0.2.7', '192.0.2.7'],
  ['not an address', 'not an address'],
  ['::', '0:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:0DB8:00ab::1', '2001:db8:ab:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  // Few zeros are left out, so the network reaches behind them.
  ['1::3:4:5:6:7:8', '1:0:3:4::/64'],
  ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
  ['::3:4:5:6:7:8', '0:0:3:4::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
])('names the client at %s %s', (address, client) => {
  expect(getClient(address)).toBe(client);
});
