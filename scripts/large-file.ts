import { sendLargeFile } from '../test/support/large.ts';

/* Measures the memory that a large file takes: npm run bench:files -- 1024 */

const megabytes = Number(process.argv[2] ?? 1024);
const started = Date.now();
const { uploaded, status, downloaded, more } = await sendLargeFile(megabytes);
const seconds = ((Date.now() - started) / 1000).toFixed(1);
console.log(
  `${megabytes} MB up (${uploaded}), checked (${status}) and down (${downloaded / 2 ** 20} MB) in ${seconds} s: ` +
    `at most ${(more / 2 ** 20).toFixed(0)} MB more memory`,
);
