import type { Given, Option } from './arguments.ts';
import type { CommandContext } from './command.ts';

export const JSON_OUTPUT: Option = { name: 'json', meaning: 'print JSON' };

/** Prints one result: as JSON with `--json`, otherwise as text. */
export function show(
  given: Given,
  { print }: Pick<CommandContext, 'print'>,
  result: unknown,
  words: () => string,
): void {
  print(given.has(JSON_OUTPUT.name) ? `${JSON.stringify(result)}\n` : words());
}

/** Formats a table; each column is as wide as its widest cell. */
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

/** Users choose names: control characters must not move the cursor, begin a line or reverse the text. */
function harmless(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, '\ufffd');
}

/** Date and minute, UTC. */
export function moment(at: number | null): string {
  return at === null ? '-' : `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')}`;
}

const BAR_WIDTH = 24;

/** A progress bar with its label. */
export function progressLine(at: number, of: number, what: string): string {
  const filled = Math.round((BAR_WIDTH * at) / Math.max(of, 1));
  return `[${'#'.repeat(filled)}${' '.repeat(BAR_WIDTH - filled)}] ${at}/${of} ${what}`;
}
