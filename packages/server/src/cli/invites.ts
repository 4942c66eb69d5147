import { toCredits } from '@questline/core';
import {
  codeOfInvite,
  inviteWithCode,
  issueRegistrationInvites,
  REGISTRATION_INVITES,
  type RegistrationInviteRecord,
} from '@questline/core/internal';
import { CliError } from '../cli-error.ts';
import { HELP } from './arguments.ts';
import type { Command } from './command.ts';
import { columns, JSON_OUTPUT, moment, show } from './output.ts';
import { DEMO, getWhole, readAll, WORKSPACE_NOTES, withWorkspace } from './with-workspace.ts';

export const createInvites: Command = {
  name: 'invites create',
  summary: 'Create invite codes, which let people register while registration is closed.',
  options: [
    { name: 'count', value: 'N', meaning: 'number of invites, 1 to 500 (1)' },
    { name: 'unlimited', meaning: 'each invite works any number of times instead of once' },
    { name: 'credits', value: 'N', meaning: 'starting credits of a new account, 0 to 1000000 (0)' },
    JSON_OUTPUT,
    DEMO,
    HELP,
  ],
  notes: WORKSPACE_NOTES,
  async run(given, surroundings) {
    const count = getWhole(given, 'count', { min: 1, max: 500 }, 1);
    const startingCredits = getWhole(given, 'credits', { min: 0, max: 1_000_000 }, 0);
    const unlimitedUse = given.has('unlimited');
    await withWorkspace(given, surroundings, async (services) => {
      const input = { count, unlimitedUse, startingCredits, createdBy: 'command line' };
      const issued = await issueRegistrationInvites(services, input);
      const invites = issued.map(({ record, code }) => shown(record, code));
      show(given, surroundings, { invites }, () => issued.map(({ code }) => `${code}\n`).join(''));
    });
  },
};

export const listInvites: Command = {
  name: 'invites list',
  summary: 'List invite codes, oldest first.',
  options: [JSON_OUTPUT, DEMO, HELP],
  notes: WORKSPACE_NOTES,
  async run(given, surroundings) {
    await withWorkspace(given, surroundings, async ({ store, secretBox }) => {
      const invites = await readAll(store.collection(REGISTRATION_INVITES));
      show(
        given,
        surroundings,
        { invites: invites.map((invite) => shown(invite, codeOfInvite(invite, secretBox))) },
        () =>
          columns(
            ['ID', 'CODE', 'USES LEFT', 'CREDITS', 'CREATED'],
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
  summary: 'Delete an invite code. Accounts registered with it stay.',
  arguments: [{ name: 'ID', meaning: 'invite id from `questline invites list`, or the code' }],
  options: [JSON_OUTPUT, DEMO, HELP],
  notes: WORKSPACE_NOTES,
  async run(given, surroundings) {
    const which = String(given.get('ID'));
    await withWorkspace(given, surroundings, async ({ store }) => {
      const invites = store.collection(REGISTRATION_INVITES);
      const [byCode] = await invites.find(inviteWithCode(which), { limit: 1 });
      const gone = await invites.take(byCode?.id ?? which);
      if (gone === undefined) throw new CliError([`there is no invite ${which}`]);
      show(given, surroundings, { id: gone.id, deleted: true }, () => `Deleted the invite ${gone.id}.\n`);
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
