import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { instrument } from './instrument.ts';
import { readPlan } from './plan.ts';

const root = join(import.meta.dirname, '../..');
const plan = readPlan();

const firstIds = new Map<string, number>();
let nextId = 0;
for (const file of plan.files) {
  firstIds.set(join(root, file), nextId);
  nextId += instrument(file, readFileSync(join(root, file), 'utf8'), nextId).mutants.length;
}

export default defineConfig({
  root,
  ssr: { resolve: { conditions: ['@questline/source'] } },
  plugins: [
    {
      name: 'mutants',
      enforce: 'pre',
      transform(source, path) {
        const firstId = firstIds.get(path);
        return firstId === undefined ? null : { code: instrument(path, source, firstId).code, map: null };
      },
    },
  ],
  test: {
    pool: 'forks',
    include: [...plan.tests],
    setupFiles: ['scripts/mutants/set-up.ts', 'test/support/seed.ts'],
    runner: 'scripts/mutants/runner.ts',
    isolate: false,
    maxWorkers: 1,
    testTimeout: plan.timeoutMs,
    hookTimeout: plan.timeoutMs,
    // Transformed modules depend on the plan, which is no part of the key of a cache.
    fsModuleCache: false,
    dangerouslyIgnoreUnhandledErrors: true,
    bail: plan.alone === undefined ? 0 : 1,
    reporters: [
      {
        onTestRunStart(specifications) {
          const begun = specifications.map(({ moduleId }) => moduleId);
          appendFileSync(plan.resultsFile, `${JSON.stringify({ begun })}\n`);
        },
      },
    ],
  },
});
