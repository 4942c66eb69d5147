import { CliError } from '../cli-error.ts';
import { packageVersion } from '../version.ts';
import { HELP, type Option, readOptions } from './arguments.ts';
import type { Command, CommandContext } from './command.ts';
import { balance, grant } from './credits.ts';
import { doctor } from './doctor.ts';
import { commandHelp, groupHelp, programHelp } from './help.ts';
import { createInvites, deleteInvite, listInvites } from './invites.ts';
import { createKey, listKeys, revokeKey } from './keys.ts';
import { migrate } from './migrate.ts';
import { importModels, listModels } from './models.ts';
import { moveOwnerCommand } from './move-owner.ts';
import { retention } from './retention.ts';
import { start } from './start.ts';
import { disable, enable, listUsers, promote } from './users.ts';
import { listDeliveries, listWebhooks, replayDeliveries } from './webhooks.ts';

const COMMANDS: readonly Command[] = [
  start,
  migrate,
  doctor,
  createKey,
  listKeys,
  revokeKey,
  listUsers,
  disable,
  enable,
  promote,
  createInvites,
  listInvites,
  deleteInvite,
  grant,
  balance,
  listWebhooks,
  listDeliveries,
  replayDeliveries,
  listModels,
  importModels,
  retention,
  moveOwnerCommand,
];
const OPTIONS: readonly Option[] = [{ name: 'version', meaning: 'show the version and exit' }, HELP];

export interface Terminal extends CommandContext {
  /** Prints errors. */
  readonly complain: (text: string) => void;
}

/** Runs a command line. @returns the exit code. Never rejects. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    await dispatch(args, terminal);
    return 0;
  } catch (error) {
    if (error instanceof CliError) {
      terminal.complain(formatList(error.issues));
      return error.exitCode;
    }
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    terminal.complain(`questline: unexpected error\n${detail}\n`);
    return 1;
  }
}

async function dispatch(args: readonly string[], terminal: Terminal): Promise<void> {
  const [first = '', second = '', ...others] = args;
  const two = COMMANDS.find(({ name }) => name === `${first} ${second}`);
  const command = two ?? COMMANDS.find(({ name }) => name === first);
  if (command !== undefined) {
    const rest = two === undefined ? args.slice(1) : others;
    const given = readOptions(`questline ${command.name}`, command.options, rest, command.arguments);
    if (given.has(HELP.name)) terminal.print(commandHelp(command));
    else await command.run(given, terminal);
    return;
  }
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `));
  if (group.length > 0) {
    if (second !== '' && !second.startsWith('-')) throw unknownCommand(`${first} ${second}`, group);
    readOptions(`questline ${first}`, [HELP], args.slice(1));
    terminal.print(groupHelp(first, group));
    return;
  }
  if (first !== '' && !first.startsWith('-')) throw unknownCommand(first, COMMANDS);
  const given = readOptions('questline', OPTIONS, args);
  terminal.print(given.has('version') ? `${packageVersion()}\n` : programHelp(COMMANDS, OPTIONS));
}

function unknownCommand(name: string, commands: readonly Command[]): CliError {
  const names = commands.map((command) => command.name).join(', ');
  return new CliError([`unknown command '${name}'; known commands: ${names}`], 2);
}

function formatList(issues: readonly string[]): string {
  const [only] = issues;
  if (issues.length === 1) return `questline: ${only}\n`;
  return `questline: ${issues.length} issues; nothing was changed\n${issues.map((issue) => `  ${issue}\n`).join('')}`;
}
