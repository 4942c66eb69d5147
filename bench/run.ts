/** Runs all benchmarks (`bench/<name>.bench.ts`) or the named ones: `npm run bench -- completions`. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const wanted = process.argv.slice(2);
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.replace(/\.bench\.ts$/, ''))
  .filter((name) => wanted.length === 0 || wanted.includes(name));

// Sequentially: parallel benchmarks would disturb each other.
for (const name of names) {
  console.log(`\n${name}`);
  await import(join(import.meta.dirname, `${name}.bench.ts`));
}
