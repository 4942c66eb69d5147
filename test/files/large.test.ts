import { expect, it } from 'vitest';
import { sendLargeFile } from '../support/large.ts';

it('uploads, checks and downloads a file of 256 MB with less than 100 MB more memory', {
  timeout: 300_000,
}, async () => {
  const { more, ...outcome } = await sendLargeFile(256);
  expect(outcome).toEqual({ uploaded: 204, status: 'clean', downloaded: 256 * 2 ** 20 });
  console.log(`256 MB through a folder: at most ${(more / 2 ** 20).toFixed(0)} MB more memory`);
  expect(more).toBeLessThan(100 * 2 ** 20);
});
