import { createSystemClock } from '@questline/core/memory';
import { CliError } from '../cli-error.ts';
import { getChecks } from '../doctor/checks.ts';
import type { Check, Finding } from '../doctor/finding.ts';
import { looksAtModels } from '../doctor/models.ts';
import { getProviderChecks } from '../doctor/providers.ts';
import { type Configuration, readConfiguration } from '../environment/configuration.ts';
import { withEnvFile } from '../environment/env-file.ts';
import { createLog } from '../log.ts';
import { HELP } from './arguments.ts';
import type { Command, CommandContext } from './command.ts';
import { JSON_OUTPUT, show } from './output.ts';

const MARKS: Readonly<Record<Finding['state'], string>> = { good: 'ok', warning: 'note', wrong: 'WRONG' };

export const doctor: Command = {
  name: 'doctor',
  summary: 'Check everything that a start depends on, and suggest fixes. Changes nothing.',
  options: [{ name: 'offline', meaning: 'do not check the API keys at the providers' }, JSON_OUTPUT, HELP],
  notes: 'Exit code: 0 if a start would succeed, 1 if it would fail.',
  async run(given, surroundings) {
    const found = await check(surroundings, given.has('offline'));
    show(given, surroundings, { findings: found }, () => formatReport(found));
    const wrong = found.filter(({ state }) => state === 'wrong').length;
    if (wrong > 0) throw new CliError([`${wrong === 1 ? '1 check' : `${wrong} checks`} failed, see above`]);
  },
};

async function check({ environment, folder }: CommandContext, offline: boolean): Promise<readonly Finding[]> {
  let configuration: Configuration;
  try {
    configuration = readConfiguration(withEnvFile(environment, folder), folder);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const advice = 'questline start --help lists every variable';
    return error.issues.map((message) => ({ subject: 'settings', state: 'wrong', message, advice }));
  }
  const log = createLog({ secrets: [], destination: { write: () => undefined } });
  const checks: readonly Check[] = [
    async () => [{ subject: 'settings', state: 'good', message: 'all variables are valid' }],
    ...getChecks(configuration, log),
    ...looksAtModels(configuration, createSystemClock()),
    ...(offline ? [] : getProviderChecks(configuration)),
  ];
  // Sequential: checks must not influence each other.
  const found: Finding[] = [];
  for (const each of checks) found.push(...(await each()));
  return found;
}

function formatReport(found: readonly Finding[]): string {
  const width = Math.max(...found.map(({ subject }) => subject.length));
  const lines = found.flatMap(({ subject, state, message, advice }) => [
    `${MARKS[state].padEnd(5)}  ${subject.padEnd(width)}  ${message}`,
    ...(advice === undefined ? [] : [`${' '.repeat(9 + width)}-> ${advice}`]),
  ]);
  return `${lines.join('\n')}\n`;
}
