import { type Services, USERS, type UserRecord } from '@questline/core';
import { HELP } from './arguments.ts';
import type { Command } from './command.ts';
import { columns, JSON_OUTPUT, moment, show } from './output.ts';
import { DEMO, findUser, readAll, WORKSPACE_NOTES, withWorkspace } from './with-workspace.ts';

export const listUsers: Command = {
  name: 'users list',
  summary: 'List accounts, oldest first.',
  options: [JSON_OUTPUT, DEMO, HELP],
  notes: WORKSPACE_NOTES,
  async run(given, surroundings) {
    await withWorkspace(given, surroundings, async ({ store }) => {
      const users = await readAll(store.collection(USERS));
      show(given, surroundings, { users: users.map(shown) }, () =>
        columns(
          ['ID', 'EMAIL', 'NAME', 'ROLE', 'STATUS', 'SINCE'],
          users.map(({ id, email, username, isAdmin, disabled, createdAt }) => [
            id,
            email,
            username,
            isAdmin ? 'admin' : 'user',
            disabled ? 'disabled' : 'active',
            moment(createdAt),
          ]),
        ),
      );
    });
  },
};

export const disable = changing({
  name: 'users disable',
  summary: 'Disable an account. Running servers reject its tokens and keys within two seconds.',
  done: 'is disabled',
  async change({ store }, { id }) {
    const users = store.collection(USERS);
    // Access tokens issued so far stay invalid after the account is enabled again.
    await users.add(id, { tokenVersion: 1 });
    return users.update(id, { disabled: true });
  },
});

export const enable = changing({
  name: 'users enable',
  summary: 'Enable a disabled account. Its API keys work again; its users sign in again.',
  done: 'is enabled',
  change: ({ store }, { id }) => store.collection(USERS).update(id, { disabled: false }),
});

export const promote = changing({
  name: 'users promote',
  summary: 'Make an account an administrator.',
  done: 'is an administrator',
  change: ({ store }, { id }) => store.collection(USERS).update(id, { isAdmin: true }),
});

function changing(about: {
  readonly name: string;
  readonly summary: string;
  readonly done: string;
  readonly change: (services: Services, user: UserRecord) => Promise<UserRecord | undefined>;
}): Command {
  return {
    name: about.name,
    summary: about.summary,
    arguments: [{ name: 'EMAIL', meaning: 'e-mail address or id of the account' }],
    options: [JSON_OUTPUT, DEMO, HELP],
    notes: WORKSPACE_NOTES,
    async run(given, surroundings) {
      await withWorkspace(given, surroundings, async (services) => {
        const user = await findUser(services, String(given.get('EMAIL')));
        const changed = (await about.change(services, user)) ?? user;
        services.authenticator.forgetUser(user.id);
        show(given, surroundings, shown(changed), () => `${user.email} ${about.done}.\n`);
      });
    },
  };
}

function shown({ id, email, username, isAdmin, disabled, createdAt }: UserRecord) {
  return { id, email, username, isAdmin, disabled, createdAt: new Date(createdAt).toISOString() };
}
