import { COLLECTIONS } from '@questline/core';
import { createIds } from '@questline/core/memory';
import type { Clock } from '@questline/core/ports';
import { createShardDirectory, createSqlStore, type MovePhase, moveOwner } from '@questline/sql';
import { CliError } from '../cli-error.ts';
import { HOME_SHARD } from '../environment/forms.ts';
import type { Databases } from '../storage/shards.ts';
import { HELP } from './arguments.ts';
import type { Command } from './command.ts';
import { JSON_OUTPUT, show } from './output.ts';
import { DEMO, findAccount, getWhole, WORKSPACE_NOTES, withWorkspace } from './with-workspace.ts';

const WAIT = {
  name: 'wait',
  value: 'SECONDS',
  meaning: 'how long to wait for running work of the owner; default 60',
};

const PHASES: Readonly<Record<MovePhase, string>> = {
  draining: 'waiting for running work',
  closed: 'refusing requests of the owner',
  copying: 'copying',
  deleting: 'deleting in the former database',
};

export const moveOwnerCommand: Command = {
  name: 'move-owner',
  summary: 'Move the data of a user or organization to another database, while the server runs.',
  arguments: [
    { name: 'OWNER', meaning: 'e-mail address or id of a user, slug or id of an organization' },
    { name: 'SHARD', meaning: 'a name in DATABASE_SHARDS, or home' },
  ],
  options: [WAIT, JSON_OUTPUT, DEMO, HELP],
  notes: `Requests of the owner are refused with 503 for about 20 seconds; other owners are served.
After an interruption the owner is refused until the same command ends.
${WORKSPACE_NOTES}`,
  async run(given, surroundings) {
    const wait = getWhole(given, WAIT.name, { min: 0, max: 3600 }, 60);
    await withWorkspace(given, surroundings, async (services, databases) => {
      const to = String(given.get('SHARD'));
      const { home, shards } = getDatabases(databases, to);
      const who = await findAccount(services, String(given.get('OWNER')));
      const owner = who.account.slice(who.account.indexOf(':') + 1);
      // An owner without records, or with records of a time before DATABASE_SHARDS, is at home.
      await createShardDirectory({ store: createSqlStore(home), shards: [HOME_SHARD] }).place(owner);
      const clock = createWaitingClock();
      const result = await moveOwner({
        ...{ home, shards, owner, to, clock, ids: createIds({ clock }), collections: COLLECTIONS },
        drainMs: wait * 1000,
        onPhase: (phase) => surroundings.showProgress?.(PHASES[phase]),
      }).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        throw new CliError([`${reason}; the owner may be refused: run the same command again`]);
      });
      surroundings.showProgress?.('');
      if (result.outcome === 'busy') {
        throw new CliError([`work of ${who.name} did not end within ${wait} seconds; nothing has moved`]);
      }
      show(given, surroundings, { owner, kind: who.kind, shard: to, ...result }, () =>
        result.outcome === 'moved'
          ? `${who.name} has moved to ${to}: ${result.records} records, ${result.jobs} jobs\n`
          : `${who.name} is in ${to} already\n`,
      );
    });
  },
};

/** @throws CliError when there is no such database. */
function getDatabases(databases: Databases | undefined, to: string) {
  const home = databases?.[HOME_SHARD];
  if (databases === undefined || home === undefined) {
    throw new CliError(['DATABASE_SHARDS: not set; there is no other database']);
  }
  if (Object.hasOwn(databases, to)) return { home, shards: databases };
  throw new CliError([`SHARD: expected one of ${Object.keys(databases).join(', ')}, got '${to}'`], 2);
}

/** A clock whose timers keep the process alive: between two statements of a move there is nothing else. */
function createWaitingClock(): Clock {
  return {
    now: () => Date.now(),
    timer(delay, callback) {
      const handle = setTimeout(callback, delay);
      return () => clearTimeout(handle);
    },
  };
}
