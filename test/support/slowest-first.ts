import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files of more than half a minute, slowest first. Started last, one of them would keep one worker busy while the others have
 * nothing left to do.
 */
const SLOWEST = [
  'packages/server/test/console.test.ts',
  'test/statements/plans.test.ts',
  'test/chat/live/cuts.test.ts',
  'test/wire/secrets.test.ts',
  'packages/sql/test/shards.test.ts',
  'test/chat/crash/crash.test.ts',
  'test/money/lost-statements-stopped.test.ts',
  'test/files/hostile.test.ts',
  'test/wire/fuzz.test.ts',
  'packages/sql/test/store.test.ts',
  'test/shards/lost-statements.test.ts',
  'packages/server/test/restart.test.ts',
  'packages/server/test/with-workspace.test.ts',
  'test/chat/live/readers.test.ts',
  'test/identity/sign-in-processes/sign-in-processes.test.ts',
  'test/ownership/forget-user.test.ts',
  'test/fields/models.test.ts',
  'packages/documents/test/suite.test.ts',
  'packages/server/test/doctor.test.ts',
  'packages/react/test/hooks.test.ts',
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
