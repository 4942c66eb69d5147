import { type Accepted, findReason } from './accepted.ts';
import type { Mutant } from './instrument.ts';
import type { Result } from './run.ts';

export interface Report {
  /** The changes that no test noticed, and the numbers per file. */
  readonly lines: readonly string[];
  /** The number of changes that are neither found nor accepted. */
  readonly left: number;
}

/** Describes the result. Changes that were not tried count nowhere. */
export function formatReport(
  { mutants: all, killed, unreached, untried, unusable }: Result,
  accepted: readonly Accepted[],
): Report {
  const mutants = all.filter(({ id }) => !untried.has(id));
  const open = mutants.filter(
    (mutant) => !killed.has(mutant.id) && findReason(accepted, mutant) === undefined,
  );
  const lines = open.map((mutant) => describe(mutant, unreached.has(mutant.id)));
  for (const [file, list] of groupByFile(mutants)) lines.push(`${count(list, killed, open)}  ${file}`);
  lines.push(`${count(mutants, killed, open)}  in all`);
  if (untried.size > 0) lines.push(`${untried.size} changes of modules that load were not tried`);
  if (unusable.size > 0) lines.push(`${unusable.size} tests cannot be repeated: ${[...unusable].join('; ')}`);
  return { lines, left: open.length };
}

/** The share that is found among the changes that need a test, and the numbers. */
function count(list: readonly Mutant[], killed: ReadonlySet<number>, open: readonly Mutant[]): string {
  const found = list.filter(({ id }) => killed.has(id)).length;
  const left = list.filter((mutant) => open.includes(mutant)).length;
  const accepted = list.length - found - left;
  return `${percent(found, found + left)}  ${list.length} changes, ${found} found, ${accepted} accepted, ${left} left`;
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
