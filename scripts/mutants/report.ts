import { type Accepted, findReason } from './accepted.ts';
import type { Mutant } from './instrument.ts';
import type { Result } from './run.ts';

/** Prints the changes that no test noticed, and the share of the others per file. @returns their number. */
export function printReport(
  { mutants, killed, unreached, unusable }: Result,
  accepted: readonly Accepted[],
): number {
  const alive = mutants.filter(({ id }) => !killed.has(id));
  const open = alive.filter((mutant) => findReason(accepted, mutant) === undefined);
  for (const mutant of open) console.log(describe(mutant, unreached.has(mutant.id)));
  for (const [file, list] of groupByFile(mutants)) {
    const found = list.filter(({ id }) => killed.has(id)).length;
    console.log(`${percent(found, list.length)}  ${found} of ${list.length}  ${file}`);
  }
  if (unusable.size > 0)
    console.log(`${unusable.size} tests cannot be repeated: ${[...unusable].join('; ')}`);
  const accounted = alive.length - open.length;
  console.log(
    `${percent(killed.size, mutants.length - accounted)} of ${mutants.length} changes are noticed; ` +
      `${open.length} are not, ${accounted} more have a reason`,
  );
  return open.length;
}

function describe({ file, line, kind, before, after }: Mutant, isUnreached: boolean): string {
  const change = after === '' ? `without ${before}` : `${before} -> ${after}`;
  return `${file}:${line}  ${kind}  ${change}${isUnreached ? '  (no test comes by)' : ''}`;
}

function groupByFile(mutants: readonly Mutant[]): ReadonlyMap<string, readonly Mutant[]> {
  const groups = new Map<string, Mutant[]>();
  for (const mutant of mutants) groups.set(mutant.file, [...(groups.get(mutant.file) ?? []), mutant]);
  return groups;
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / Math.max(whole, 1)).toFixed(0).padStart(3)} %`;
}
