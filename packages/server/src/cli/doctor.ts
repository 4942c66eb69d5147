import type { Finding, Look } from '../doctor/finding.ts';
import { looksAt } from '../doctor/looks.ts';
import { looksAtProviders } from '../doctor/providers.ts';
import { type Configuration, readConfiguration } from '../environment/configuration.ts';
import { withEnvFile } from '../environment/env-file.ts';
import { createLog } from '../log.ts';
import { Mistake } from '../mistake.ts';
import { HELP } from './arguments.ts';
import type { Command, Surroundings } from './command.ts';
import { JSON_OUTPUT, show } from './output.ts';

const MARKS: Readonly<Record<Finding['state'], string>> = { good: 'ok', warning: 'note', wrong: 'WRONG' };

export const doctor: Command = {
  name: 'doctor',
  summary: 'Look at everything a start depends on, and say what to do. It changes nothing.',
  options: [
    { name: 'offline', meaning: 'without asking the providers whether they take their keys' },
    JSON_OUTPUT,
    HELP,
  ],
  notes: 'Exit code 0 when a start would work, 1 when it would not.',
  async run(given, surroundings) {
    const found = await look(surroundings, given.has('offline'));
    show(given, surroundings, { findings: found }, () => reportOf(found));
    const wrong = found.filter(({ state }) => state === 'wrong').length;
    if (wrong > 0)
      throw new Mistake([`${wrong === 1 ? 'one thing is' : `${wrong} things are`} wrong, see above`]);
  },
};

async function look({ environment, folder }: Surroundings, offline: boolean): Promise<readonly Finding[]> {
  let configuration: Configuration;
  try {
    configuration = readConfiguration(withEnvFile(environment, folder), folder);
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    const advice = 'questline start --help names every variable';
    return error.faults.map((message) => ({ subject: 'settings', state: 'wrong', message, advice }));
  }
  const log = createLog({ secrets: [], destination: { write: () => undefined } });
  const looks: readonly Look[] = [
    async () => [{ subject: 'settings', state: 'good', message: 'every variable can be read' }],
    ...looksAt(configuration, log),
    ...(offline ? [] : looksAtProviders(configuration)),
  ];
  // One after the other: what one finds out may not disturb the next.
  const found: Finding[] = [];
  for (const each of looks) found.push(...(await each()));
  return found;
}

function reportOf(found: readonly Finding[]): string {
  const width = Math.max(...found.map(({ subject }) => subject.length));
  const lines = found.flatMap(({ subject, state, message, advice }) => [
    `${MARKS[state].padEnd(5)}  ${subject.padEnd(width)}  ${message}`,
    ...(advice === undefined ? [] : [`${' '.repeat(9 + width)}-> ${advice}`]),
  ]);
  return `${lines.join('\n')}\n`;
}
