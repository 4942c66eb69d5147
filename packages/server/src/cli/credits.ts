import { type Services, toCredits } from '@questline/core';
import { HELP } from './arguments.ts';
import type { Command } from './command.ts';
import { JSON_OUTPUT, show } from './output.ts';
import {
  type Account,
  DEMO,
  findAccount,
  getText,
  parseCredits,
  WORKSPACE_NOTES,
  withWorkspace,
} from './with-workspace.ts';

const ACCOUNT = 'e-mail address or id of the account, or id or slug of the organization';

export const grant: Command = {
  name: 'credits grant',
  summary: 'Grant credits to an account or an organization, or take them back.',
  arguments: [
    { name: 'EMAIL', meaning: ACCOUNT },
    { name: 'CREDITS', meaning: 'number of credits, e.g. 100 or 0.5' },
  ],
  options: [
    { name: 'take', meaning: 'take credits back instead of granting them' },
    { name: 'reason', value: 'TEXT', meaning: 'stored in the ledger (Granted at the command line)' },
    { name: 'key', value: 'TEXT', meaning: 'idempotency key: repeated runs with this key grant once' },
    JSON_OUTPUT,
    DEMO,
    HELP,
  ],
  notes: WORKSPACE_NOTES,
  async run(given, surroundings) {
    const amount = parseCredits('CREDITS', String(given.get('CREDITS'))) * (given.has('take') ? -1 : 1);
    const reason = getText(given, 'reason') ?? 'Granted at the command line';
    await withWorkspace(given, surroundings, async (services) => {
      const owner = await findAccount(services, String(given.get('EMAIL')));
      const wanted = getText(given, 'key');
      const key = wanted === undefined ? `command-line:${services.ids.next()}` : `command-line:${wanted}`;
      const granted = await services.ledger.grant({ account: owner.account, amount, key, reason });
      const now = await getBalance(services, owner);
      show(given, surroundings, { granted, ...now }, () =>
        granted ? words(now) : `Already granted with this key. ${words(now)}`,
      );
    });
  },
};

export const balance: Command = {
  name: 'credits balance',
  summary: 'Show the credits of an account or an organization.',
  arguments: [{ name: 'EMAIL', meaning: ACCOUNT }],
  options: [JSON_OUTPUT, DEMO, HELP],
  notes: WORKSPACE_NOTES,
  async run(given, surroundings) {
    await withWorkspace(given, surroundings, async (services) => {
      const now = await getBalance(services, await findAccount(services, String(given.get('EMAIL'))));
      show(given, surroundings, now, () => words(now));
    });
  },
};

async function getBalance({ ledger }: Services, { account, kind, name }: Account) {
  const { posted, held, available } = await ledger.balance(account);
  const owner = kind === 'user' ? { user: name } : { organization: name };
  return { ...owner, balance: toCredits(available), reserved: toCredits(held), posted: toCredits(posted) };
}

function words({ balance: left, reserved, ...owner }: Awaited<ReturnType<typeof getBalance>>): string {
  return `${'user' in owner ? owner.user : owner.organization} can spend ${left} credits; ${reserved} are reserved.\n`;
}
