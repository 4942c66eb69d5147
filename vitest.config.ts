import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './test/support/slowest-first.ts';

const EVERY_TEST = [
  'packages/*/src/**/*.test.ts',
  'packages/*/test/**/*.test.ts',
  'test/**/*.test.ts',
  'examples/**/*.test.ts',
];

/**
 * These hold a promise in real time to its number: how soon an outage is reported, a revoked key is refused elsewhere, leaving
 * stops the work. They run last and two at a time: each mostly waits, needs one core at most, or measures its own processor
 * time.
 */
const IN_REAL_TIME = [
  'packages/{core,express,fastify,koa,testing}/test/**/adapter.test.ts',
  'packages/*/test/**/outage.test.ts',
  'packages/redis/test/event-log.test.ts',
  'packages/redis/test/expiring.test.ts',
  'packages/redis/test/publisher.test.ts',
  'test/guest/guest.test.ts',
  'test/identity/revocation-processes.test.ts',
  'test/lists/worst-bodies.test.ts',
];

/** These need all cores for their promise: a video is paid for within two polls, a long list does not delay a ping. */
const ALONE = ['test/generations/crash/crash.test.ts', 'test/lists/ping.test.ts'];

/** Files share processes, so their results must not depend on their order. `QUESTLINE_ORDER=7` draws another one. */
const ORDER = process.env.QUESTLINE_ORDER;
if (ORDER !== undefined && !/^\d{1,9}$/.test(ORDER)) {
  throw new Error(`QUESTLINE_ORDER is a whole number of at most nine digits, not "${ORDER}".`);
}

const NEVER = ['**/node_modules/**', '**/dist/**'];

export default defineConfig({
  // Tests read the packages' sources, so no build stands between an edit and its test. Vitest resolves like a server:
  // the plain `resolve.conditions` would not reach it.
  ssr: { resolve: { conditions: ['@questline/source'] } },
  test: {
    pool: 'forks',
    globalSetup: ['test/support/children/set-up.ts'],
    setupFiles: [
      'test/support/seed.ts',
      'test/support/real-globals.ts',
      'test/support/vendor-types/setup.ts',
    ],
    // Only to end what hangs: a busy machine may take its time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    passWithNoTests: true,
    sequence:
      ORDER === undefined ? { sequencer: SlowestFirst } : { shuffle: { files: true }, seed: Number(ORDER) },
    coverage: { include: ['packages/*/src/**'] },
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          include: EVERY_TEST,
          exclude: [...NEVER, ...IN_REAL_TIME, ...ALONE],
          // Tests of several processes mostly wait: four workers keep two cores busy.
          maxWorkers: 4,
          // Half of the time of a small file is the import of the same modules. None of them has state, so files share a
          // process and its modules.
          isolate: false,
          execArgv: ['--max-old-space-size=6144'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'in real time',
          include: IN_REAL_TIME,
          exclude: NEVER,
          maxWorkers: 2,
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ALONE,
          exclude: NEVER,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
