import { expect, it } from 'vitest';
import { sendLargeFile } from '../support/large.ts';

it('a file of 256 MB goes up, is checked and comes down through less than 100 MB more memory', {
  timeout: 300_000,
}, async () => {
  const { more, ...outcome } = await sendLargeFile(256);
  expect(outcome).toEqual({ uploaded: 204, status: 'clean', downloaded: 256 * 2 ** 20 });
  console.log(`256 MB through a folder: ${(more / 2 ** 20).toFixed(0)} MB more memory at most`);
  expect(more).toBeLessThan(100 * 2 ** 20);
});
