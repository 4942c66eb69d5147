import {
  codeOfInvite,
  inviteWithCode,
  issueRegistrationInvites,
  REGISTRATION_INVITES,
  type RegistrationInviteRecord,
  toCredits,
} from '@questline/core';
import { Mistake } from '../mistake.ts';
import { HELP } from './arguments.ts';
import type { Command } from './command.ts';
import { allOf, atDesk, DEMO, DESK_NOTES, wholeOf } from './desk.ts';
import { columns, JSON_OUTPUT, moment, show } from './output.ts';

export const createInvites: Command = {
  name: 'invites create',
  summary: 'Make codes that let people register while registration is closed.',
  options: [
    { name: 'count', value: 'N', meaning: 'how many, 1 to 500 (1)' },
    { name: 'unlimited', meaning: 'each for any number of accounts, in place of one' },
    { name: 'credits', value: 'N', meaning: 'that an account starts with, 0 to 1000000 (0)' },
    JSON_OUTPUT,
    DEMO,
    HELP,
  ],
  notes: DESK_NOTES,
  async run(given, surroundings) {
    const count = wholeOf(given, 'count', { min: 1, max: 500 }, 1);
    const startingCredits = wholeOf(given, 'credits', { min: 0, max: 1_000_000 }, 0);
    const unlimitedUse = given.has('unlimited');
    await atDesk(given, surroundings, async (services) => {
      const wish = { count, unlimitedUse, startingCredits, createdBy: 'command line' };
      const issued = await issueRegistrationInvites(services, wish);
      const invites = issued.map(({ record, code }) => shown(record, code));
      show(given, surroundings, { invites }, () => issued.map(({ code }) => `${code}\n`).join(''));
    });
  },
};

export const listInvites: Command = {
  name: 'invites list',
  summary: 'List the codes that let people register, oldest first.',
  options: [JSON_OUTPUT, DEMO, HELP],
  notes: DESK_NOTES,
  async run(given, surroundings) {
    await atDesk(given, surroundings, async ({ store, secretBox }) => {
      const invites = await allOf(store.collection(REGISTRATION_INVITES));
      show(
        given,
        surroundings,
        { invites: invites.map((invite) => shown(invite, codeOfInvite(invite, secretBox))) },
        () =>
          columns(
            ['ID', 'CODE', 'USES LEFT', 'CREDITS', 'SINCE'],
            invites.map((invite) => [
              invite.id,
              codeOfInvite(invite, secretBox) ?? '-',
              invite.usesLeft === null ? 'any' : String(invite.usesLeft),
              String(toCredits(invite.startingCredits)),
              moment(invite.createdAt),
            ]),
          ),
      );
    });
  },
};

export const deleteInvite: Command = {
  name: 'invites delete',
  summary: 'End a code. Who has registered with it stays.',
  arguments: [{ name: 'ID', meaning: 'as `questline invites list` shows it, or the code' }],
  options: [JSON_OUTPUT, DEMO, HELP],
  notes: DESK_NOTES,
  async run(given, surroundings) {
    const which = String(given.get('ID'));
    await atDesk(given, surroundings, async ({ store }) => {
      const invites = store.collection(REGISTRATION_INVITES);
      const [byCode] = await invites.find(inviteWithCode(which), { limit: 1 });
      const gone = await invites.take(byCode?.id ?? which);
      if (gone === undefined) throw new Mistake([`there is no invite ${which}`]);
      show(given, surroundings, { id: gone.id, deleted: true }, () => `The invite ${gone.id} is deleted.\n`);
    });
  },
};

function shown({ id, usesLeft, startingCredits, createdAt }: RegistrationInviteRecord, code: string | null) {
  return {
    id,
    code,
    usesLeft,
    startingCredits: toCredits(startingCredits),
    createdAt: new Date(createdAt).toISOString(),
  };
}
