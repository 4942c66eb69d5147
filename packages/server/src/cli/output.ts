import type { Given, Option } from './arguments.ts';
import type { Surroundings } from './command.ts';

export const JSON_OUTPUT: Option = { name: 'json', meaning: 'print JSON, for machines' };

/** Shows one result: as JSON when that was asked for, else in words. */
export function show(
  given: Given,
  { print }: Pick<Surroundings, 'print'>,
  result: unknown,
  words: () => string,
): void {
  print(given.has(JSON_OUTPUT.name) ? `${JSON.stringify(result)}\n` : words());
}

/** Columns under their titles, each as wide as its widest cell. */
export function columns(titles: readonly string[], cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map(harmless));
  const widths = titles.map((title, at) =>
    Math.max(...[titles, ...rows].map((row) => (row[at] ?? title).length)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  return `${[titles, ...rows].map(line).join('\n')}\n`;
}

/** People choose names: none of them is to move a cursor, begin a line or turn the text around. */
function harmless(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, '\ufffd');
}

/** Day and minute, UTC. */
export function moment(at: number | null): string {
  return at === null ? '-' : `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')}`;
}

const BAR_WIDTH = 24;

/** A line that tells how far long work is. */
export function progressLine(at: number, of: number, what: string): string {
  const filled = Math.round((BAR_WIDTH * at) / Math.max(of, 1));
  return `[${'#'.repeat(filled)}${' '.repeat(BAR_WIDTH - filled)}] ${at}/${of} ${what}`;
}
