import { describe, expect, it } from 'vitest';
import { isPublicAddress } from './addresses.ts';
import { createWebhookSender } from './webhook-sender.ts';

/** The addresses directly before and behind the special-purpose ranges, as far as these do not touch. */
const NEIGHBOURS = `
1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15 168.63.129.17
169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.1.255 192.0.3.0 192.31.195.255
192.31.197.0 192.52.192.255 192.52.194.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 192.175.47.255
192.175.49.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255
::1:0:0 64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff 64:ff9b::1:0:0 64:ff9b:2:: ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 100:0:0:2::
2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2001:200:: 2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9::
2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2003:: 2620:4f:7fff:ffff:ffff:ffff:ffff:ffff 2620:4f:8001::
3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff 3fff:1000:: 5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 5f01::
fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff fe00:: fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff
`
  .trim()
  .split(/\s+/);

describe('address of the public internet', () => {
  it.each(NEIGHBOURS)('is %s, beside a special-purpose range', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each(['8.8.8.8', '2001:4860:4860::8888', '::ffff:8.8.8.8', '::FFFF:8.8.8.8'])('is %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it('may be called by default', async () => {
    const sender = createWebhookSender();
    expect(await sender.isAllowed('https://8.8.8.8/hook')).toBe(true);
    expect(await sender.isAllowed('https://[2001:4860:4860::8888]/hook')).toBe(true);
  });

  it.each([
    '::ffff:10.0.0.1',
    '::ffff:127.0.0.1',
    '::FFFF:169.254.169.254',
    '::ffff:a00:1',
    '::ffff:808:808',
    '::10.0.0.1',
    '1::ffff:8.8.8.8x',
    '::ffff:8.8.8.256',
    'fe80::1%eth0',
  ])('is not %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(['', 'localhost', 'example.com', '8.8.8', '8.8.8.8.8', '0x8.8.8.8'])(
    'is not %j, which is no address',
    (text) => {
      expect(isPublicAddress(text)).toBe(false);
    },
  );
});
