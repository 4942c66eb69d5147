import { parseArgs } from 'node:util';
import { CliError } from '../cli-error.ts';

/** An option of a command. */
export interface Option {
  readonly name: string;
  /** Placeholder of its value in the help text. Absent: the option takes no value. */
  readonly value?: string;
  readonly meaning: string;
}

/** A positional argument. */
export interface Argument {
  /** The name in the help text: `EMAIL`. */
  readonly name: string;
  readonly meaning: string;
}

export const HELP: Option = { name: 'help', meaning: 'show this help and exit' };

/** Values by option or argument name; an option without a value is `true`. */
export type Given = ReadonlyMap<string, string | true>;

/**
 * Parses the arguments of a command. If an option is repeated, the last one counts.
 * @throws CliError that names each issue and the known options.
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
  const issues: string[] = [];
  const missing = [...wanted];
  for (const token of tokens) {
    if (token.kind === 'positional') {
      const argument = missing.shift();
      if (argument === undefined) issues.push(`${command}: unexpected argument '${token.value}'`);
      else given.set(argument.name, token.value);
    }
    if (token.kind !== 'option') continue;
    const option = options.find(({ name }) => name === token.name);
    if (option === undefined)
      issues.push(`${command}: unknown option ${token.rawName}; known options: ${names}`);
    else if (option.value === undefined && token.value !== undefined) {
      issues.push(`${token.rawName} takes no value`);
    } else if (option.value !== undefined && (token.value === undefined || token.value === '')) {
      issues.push(`${token.rawName}: missing value, use --${option.name} ${option.value}`);
    } else given.set(option.name, token.value ?? true);
  }
  for (const { name, meaning } of missing) issues.push(`${command}: missing argument ${name} (${meaning})`);
  // --help works even if other arguments are invalid.
  if (issues.length > 0 && !given.has(HELP.name)) throw new CliError(issues, 2);
  return given;
}
