import { parseArgs } from 'node:util';
import { Mistake } from '../mistake.ts';

/** An option of a command. */
export interface Option {
  readonly name: string;
  /** What stands for its value in the help text. Absent: it takes none. */
  readonly value?: string;
  readonly meaning: string;
}

/** What stands behind a command without a name of its own. */
export interface Argument {
  /** As the help text writes it: `EMAIL`. */
  readonly name: string;
  readonly meaning: string;
}

export const HELP: Option = { name: 'help', meaning: 'show this and exit' };

/** What was given, by the name of the option or argument; an option without a value is `true`. */
export type Given = ReadonlyMap<string, string | true>;

/**
 * Reads what stands behind a command. The last option of a name counts.
 * @throws Mistake that names what is wrong and what there is.
 */
export function readOptions(
  command: string,
  options: readonly Option[],
  args: readonly string[],
  wanted: readonly Argument[] = [],
): Given {
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      options.map(({ name, value }) => [name, { type: value === undefined ? 'boolean' : 'string' } as const]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const names = options.map(({ name }) => `--${name}`).join(', ');
  const given = new Map<string, string | true>();
  const faults: string[] = [];
  const missing = [...wanted];
  for (const token of tokens) {
    if (token.kind === 'positional') {
      const argument = missing.shift();
      if (argument === undefined) faults.push(`${command} takes no argument '${token.value}'`);
      else given.set(argument.name, token.value);
    }
    if (token.kind !== 'option') continue;
    const option = options.find(({ name }) => name === token.name);
    if (option === undefined) faults.push(`${command} has no option ${token.rawName}; there are: ${names}`);
    else if (option.value === undefined && token.value !== undefined) {
      faults.push(`${token.rawName} takes no value`);
    } else if (option.value !== undefined && (token.value === undefined || token.value === '')) {
      faults.push(`${token.rawName} wants a value: --${option.name} ${option.value}`);
    } else given.set(option.name, token.value ?? true);
  }
  for (const { name, meaning } of missing) faults.push(`${command} wants ${name}: ${meaning}`);
  // Asking for help is never wrong.
  if (faults.length > 0 && !given.has(HELP.name)) throw new Mistake(faults, 2);
  return given;
}
