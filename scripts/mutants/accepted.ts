import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mutant } from './instrument.ts';

/** A change that no test needs to notice. */
export interface Accepted {
  readonly file: string;
  readonly kind: string;
  /** The text of its line, where the file has several such changes. */
  readonly on?: string;
  /** The text that was changed. */
  readonly before: string;
  readonly after: string;
  readonly reason: string;
}

export async function readAccepted(root: string): Promise<readonly Accepted[]> {
  return JSON.parse(await readFile(join(root, 'scripts/mutants/accepted.json'), 'utf8')) as Accepted[];
}

export function findReason(list: readonly Accepted[], mutant: Mutant): string | undefined {
  return list.find(
    ({ file, kind, on, before, after }) =>
      file === mutant.file &&
      kind === mutant.kind &&
      before === mutant.before &&
      after === mutant.after &&
      (on === undefined || on === mutant.on),
  )?.reason;
}
