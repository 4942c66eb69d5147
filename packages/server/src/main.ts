#!/usr/bin/env node
import { onEnd } from './cli/endings.ts';
import { run } from './cli/run.ts';

// What this process writes (secrets, conversations) is for its owner only.
process.umask(0o077);
// A reader that has left, as `| head` does, is no reason to stop serving.
process.stdout.on('error', () => undefined);

process.exitCode = await run(process.argv.slice(2), {
  environment: process.env,
  folder: process.cwd(),
  print: (text) => process.stdout.write(text),
  complain: (text) => process.stderr.write(text),
  // Rewrites its own line, which only a terminal can.
  ...(process.stderr.isTTY && {
    showProgress: (line: string) => void process.stderr.write(`\r\x1b[K${line}`),
  }),
  onEnd,
});
