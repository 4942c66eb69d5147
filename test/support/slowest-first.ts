import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Slow files. Started last, one of them would keep one worker busy while the others have nothing left to do. Files that mostly wait
 * for leases alternate with files that need a core.
 */
const SLOWEST = [
  'packages/server/test/console.test.ts',
  'packages/server/test/restart.test.ts',
  'test/wire/secrets.test.ts',
  'test/files/hostile.test.ts',
  'test/statements/plans.test.ts',
  'test/chat/crash/crash.test.ts',
  'test/wire/fuzz.test.ts',
  'packages/server/test/move-owner.test.ts',
  'test/wire/refusals.test.ts',
  'test/chat/live/cuts.test.ts',
  'packages/documents/test/readers.test.ts',
  'test/openai/crash/crash.test.ts',
  'packages/sql/test/shards.test.ts',
  'test/mutants/tool.test.ts',
  'test/fields/models.test.ts',
  'test/chat/live/readers.test.ts',
  'packages/sql/test/ledger.test.ts',
  'packages/bullmq/test/queue.test.ts',
  'test/chat/engines.test.ts',
  'packages/sql/test/replicas/replicas.test.ts',
  'test/wire/mounts.test.ts',
  'test/openai/crash/holds.test.ts',
  'test/identity/sign-in-processes/sign-in-processes.test.ts',
  'packages/react/test/hooks.test.ts',
  'packages/sql/test/vectors.test.ts',
  'test/shards/lost-statements.test.ts',
  'test/shards/shared-ids.test.ts',
  'test/shards/wire-cases.test.ts',
];

/** Starts the slowest files first. Without durations of an earlier run, vitest starts the largest files first. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = SLOWEST.indexOf(relative(this.ctx.config.root, moduleId));
      return place === -1 ? SLOWEST.length : place;
    };
    // Groups of projects keep their own order: the pool starts them one after the other.
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}
