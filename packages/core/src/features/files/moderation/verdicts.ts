import type { FileToCheck, Moderator, Verdict } from '../../../ports/moderator.ts';
import type { CallOptions } from '../../../ports/options.ts';

/** Detects one kind of harm. @returns the finding. */
export type Inspection = (file: FileToCheck, options: CallOptions) => Promise<string | undefined>;

export const CLEAN: Verdict = { isClean: true };

/** Runs the moderators in order: all must find the file clean. */
export function createModerators(moderators: readonly Moderator[]): Moderator {
  return {
    async check(file, options) {
      for (const moderator of moderators) {
        const verdict = await moderator.check(file, options);
        if (!verdict.isClean) return verdict;
      }
      return CLEAN;
    },
  };
}
