#!/usr/bin/env node
import { run } from './cli/run.ts';
import { onShutdownSignal } from './cli/signals.ts';

// Files of this process contain secrets and conversations: only their owner may read them.
process.umask(0o077);
// A closed stdout, as with `| head`, does not stop the server.
process.stdout.on('error', () => undefined);

process.exitCode = await run(process.argv.slice(2), {
  environment: process.env,
  folder: process.cwd(),
  print: (text) => process.stdout.write(text),
  complain: (text) => process.stderr.write(text),
  // Only a terminal can rewrite a line.
  ...(process.stderr.isTTY && {
    showProgress: (line: string) => void process.stderr.write(`\r\x1b[K${line}`),
  }),
  onShutdownSignal,
});
