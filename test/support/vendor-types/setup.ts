import { afterEach } from 'vitest';
import { takeMismatches } from './mismatches.ts';

/** Runs in every test file: a hook of a helper would belong only to the file that imports it first. */
afterEach(() => {
  const mismatches = [...new Set(takeMismatches())];
  if (mismatches.length === 0) return;
  throw new Error(`answers differ from the vendor's types:\n${mismatches.slice(0, 30).join('\n')}`);
});
