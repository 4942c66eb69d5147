import type { Option } from './arguments.ts';
import type { Command } from './command.ts';

/** Formats two columns; the second one is aligned. */
export function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n');
}

export function programHelp(commands: readonly Command[], options: readonly Option[]): string {
  return `Usage: questline <command> [options]

Commands:
${table(commands.map(({ name, summary }) => [name, summary]))}

Options:
${table(options.map(optionRow))}

Exit codes: 0 done, 1 a setting is wrong or something failed, 2 the command line is wrong.
Run 'questline <command> --help' for more about a command.
`;
}

/** Help of a command group, such as `keys`. */
export function groupHelp(group: string, commands: readonly Command[]): string {
  return `Usage: questline ${group} <command> [options]

Commands:
${table(commands.map(({ name, summary }) => [name, summary]))}

Run 'questline <command> --help' for more about a command.
`;
}

export function commandHelp({ name, summary, arguments: wanted = [], options, notes }: Command): string {
  const usage = ['questline', name, ...wanted.map((argument) => argument.name), '[options]'].join(' ');
  const argumentsHelp = `Arguments:\n${table(wanted.map((argument) => [argument.name, argument.meaning]))}\n\n`;
  return `Usage: ${usage}

${summary}

${wanted.length > 0 ? argumentsHelp : ''}Options:
${table(options.map(optionRow))}
${notes === '' ? '' : `\n${notes}\n`}`;
}

function optionRow({ name, value, meaning }: Option): [string, string] {
  return [`--${name}${value === undefined ? '' : ` ${value}`}`, meaning];
}
