import { fromCredits, type Services, toCredits, type UserRecord } from '@questline/core';
import { Mistake } from '../mistake.ts';
import { HELP } from './arguments.ts';
import type { Command } from './command.ts';
import { atDesk, DEMO, DESK_NOTES, findUser, textOf } from './desk.ts';
import { JSON_OUTPUT, show } from './output.ts';

/** Credits, at most six decimals. */
const AMOUNT = /^\d{1,9}(?:\.\d{1,6})?$/;

export const grant: Command = {
  name: 'credits grant',
  summary: 'Give credits to an account, or take them back.',
  arguments: [
    { name: 'EMAIL', meaning: 'the address, or the id of the account' },
    { name: 'CREDITS', meaning: 'how many, e.g. 100 or 0.5' },
  ],
  options: [
    { name: 'take', meaning: 'take them back in place of giving them' },
    { name: 'reason', value: 'TEXT', meaning: 'kept in the ledger (Granted at the command line)' },
    { name: 'key', value: 'TEXT', meaning: 'grants once, however often it is run with this one' },
    JSON_OUTPUT,
    DEMO,
    HELP,
  ],
  notes: DESK_NOTES,
  async run(given, surroundings) {
    const text = String(given.get('CREDITS'));
    if (!AMOUNT.test(text) || Number(text) <= 0) {
      throw new Mistake([`CREDITS: expected a number above 0 with at most 6 decimals, got '${text}'`], 2);
    }
    const amount = fromCredits(Number(text)) * (given.has('take') ? -1 : 1);
    const reason = textOf(given, 'reason') ?? 'Granted at the command line';
    await atDesk(given, surroundings, async (services) => {
      const user = await findUser(services, String(given.get('EMAIL')));
      const wanted = textOf(given, 'key');
      const key = wanted === undefined ? `command-line:${services.ids.next()}` : `command-line:${wanted}`;
      const granted = await services.ledger.grant({ account: `user:${user.id}`, amount, key, reason });
      const now = await balanceOf(services, user);
      show(given, surroundings, { granted, ...now }, () =>
        granted ? words(now) : `That had been granted before. ${words(now)}`,
      );
    });
  },
};

export const balance: Command = {
  name: 'credits balance',
  summary: "Show an account's credits.",
  arguments: [{ name: 'EMAIL', meaning: 'the address, or the id of the account' }],
  options: [JSON_OUTPUT, DEMO, HELP],
  notes: DESK_NOTES,
  async run(given, surroundings) {
    await atDesk(given, surroundings, async (services) => {
      const now = await balanceOf(services, await findUser(services, String(given.get('EMAIL'))));
      show(given, surroundings, now, () => words(now));
    });
  },
};

async function balanceOf({ ledger }: Services, { id, email }: UserRecord) {
  const { posted, held, available } = await ledger.balance(`user:${id}`);
  return { user: email, balance: toCredits(available), reserved: toCredits(held), posted: toCredits(posted) };
}

function words({ user, balance: left, reserved }: Awaited<ReturnType<typeof balanceOf>>): string {
  return `${user} can spend ${left} credits; ${reserved} are reserved.\n`;
}
