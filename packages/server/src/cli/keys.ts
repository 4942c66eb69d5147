import {
  API_KEYS,
  type ApiKeyRecord,
  isScope,
  issueApiKey,
  OFFERED_SCOPES,
  revokeApiKey,
  SCOPE_PRESETS,
  type Scope,
  type ScopePreset,
  scopeListFault,
  USERS,
  type UserRecord,
} from '@questline/core';
import { Mistake } from '../mistake.ts';
import { type Given, HELP } from './arguments.ts';
import type { Command } from './command.ts';
import { allOf, atDesk, DEMO, DESK_NOTES, findUser, textOf } from './desk.ts';
import { columns, JSON_OUTPUT, moment, show } from './output.ts';

const PRESETS = Object.keys(SCOPE_PRESETS).join(', ');

export const createKey: Command = {
  name: 'keys create',
  summary: 'Make an API key for an account. It is shown once, and kept nowhere.',
  arguments: [{ name: 'EMAIL', meaning: 'whose key it is: the address, or the id of the account' }],
  options: [
    { name: 'preset', value: 'NAME', meaning: `what it may do: one of ${PRESETS}` },
    { name: 'scopes', value: 'LIST', meaning: 'what it may do in detail, e.g. ai:chat,me:read' },
    { name: 'name', value: 'TEXT', meaning: 'to recognise it by (Command line)' },
    { name: 'test', meaning: 'begins with svc_test_ in place of svc_live_' },
    { name: 'expires', value: 'TIME', meaning: 'when it ends, e.g. 2027-01-31 (never)' },
    JSON_OUTPUT,
    DEMO,
    HELP,
  ],
  notes: DESK_NOTES,
  async run(given, surroundings) {
    const name = textOf(given, 'name') ?? 'Command line';
    if ([...name].length > 100) throw new Mistake(['--name: expected 100 characters at most'], 2);
    const expiresAt = expiryOf(textOf(given, 'expires'));
    const wanted = wantedScopes(given);
    await atDesk(given, surroundings, async (services) => {
      const user = await findUser(services, String(given.get('EMAIL')));
      const scopes = wanted(user);
      const mode = given.has('test') ? 'test' : 'live';
      const { record, key } = await issueApiKey(services, { userId: user.id, name, scopes, mode, expiresAt });
      show(given, surroundings, { ...shown(record, user), key }, () =>
        [`${key}`, `The key ${record.id} of ${user.email}. It is not shown again.`, ''].join('\n'),
      );
    });
  },
};

export const listKeys: Command = {
  name: 'keys list',
  summary: 'List API keys, oldest first: never the keys themselves, only how they begin.',
  options: [
    { name: 'user', value: 'EMAIL', meaning: 'of one account only' },
    { name: 'all', meaning: 'ended ones too' },
    JSON_OUTPUT,
    DEMO,
    HELP,
  ],
  notes: DESK_NOTES,
  async run(given, surroundings) {
    await atDesk(given, surroundings, async (services) => {
      const { store } = services;
      const who = textOf(given, 'user');
      const owner = who === undefined ? undefined : await findUser(services, who);
      const keys = await allOf(store.collection(API_KEYS), {
        ...(owner !== undefined && { userId: owner.id }),
        ...(!given.has('all') && { status: 'active' }),
      });
      const users = new Map((await allOf(store.collection(USERS))).map((user) => [user.id, user]));
      const list = keys.map((key) => shown(key, users.get(key.userId)));
      show(given, surroundings, { keys: list }, () =>
        columns(
          ['ID', 'BEGINS WITH', 'OF', 'NAME', 'STATUS', 'ENDS', 'LAST USED'],
          list.map((key, at) => [
            key.id,
            key.keyPrefix,
            key.user ?? '-',
            key.name,
            key.status,
            moment(keys[at]?.expiresAt ?? null),
            moment(keys[at]?.lastUsedAt ?? null),
          ]),
        ),
      );
    });
  },
};

export const revokeKey: Command = {
  name: 'keys revoke',
  summary: 'End an API key. Running servers refuse it within two seconds.',
  arguments: [{ name: 'ID', meaning: 'as `questline keys list` shows it' }],
  options: [{ name: 'reason', value: 'TEXT', meaning: 'kept with it' }, JSON_OUTPUT, DEMO, HELP],
  notes: DESK_NOTES,
  async run(given, surroundings) {
    const id = String(given.get('ID'));
    await atDesk(given, surroundings, async (services) => {
      const record = await services.store.collection(API_KEYS).get(id);
      if (record === undefined) throw new Mistake([`there is no key ${id}`]);
      await revokeApiKey(services, record.userId, id, textOf(given, 'reason'));
      show(given, surroundings, { id, status: 'disabled' }, () => `The key ${id} has ended.\n`);
    });
  },
};

/** What is wrong with the wish itself is said before anything is opened; what its owner may not give, after. */
function wantedScopes(given: Given): (owner: UserRecord) => readonly Scope[] {
  const preset = textOf(given, 'preset');
  const list = textOf(given, 'scopes');
  if ((preset === undefined) === (list === undefined)) {
    throw new Mistake([`say what the key may do: --preset (one of ${PRESETS}) or --scopes`], 2);
  }
  if (preset !== undefined) {
    if (!(preset in SCOPE_PRESETS))
      throw new Mistake([`--preset: expected one of ${PRESETS}, got '${preset}'`], 2);
    return () => SCOPE_PRESETS[preset as ScopePreset];
  }
  const names = [
    ...new Set(
      (list ?? '')
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== ''),
    ),
  ];
  const unknown = names.filter((one) => !isScope(one));
  if (unknown.length > 0) throw new Mistake([`--scopes: there is no ${unknown.join(', ')}`], 2);
  const scopes = names.filter(isScope);
  const fault = scopes.length === 0 ? 'expected at least one' : scopeListFault(scopes);
  if (fault !== undefined) throw new Mistake([`--scopes: ${fault}`], 2);
  return ({ email, isAdmin }) => {
    const refused = scopes.filter((one) => !OFFERED_SCOPES.includes(one) && !(isAdmin && one === 'admin:*'));
    if (refused.length === 0) return scopes;
    throw new Mistake([`--scopes: ${refused.join(', ')} cannot be given to a key of ${email}`]);
  };
}

function expiryOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const at = Date.parse(text);
  if (Number.isNaN(at) || at <= Date.now()) {
    throw new Mistake([`--expires: expected a time in the future, e.g. 2027-01-31, got '${text}'`], 2);
  }
  return at;
}

function shown(record: ApiKeyRecord, user: UserRecord | undefined) {
  const { id, name, keyPrefix, scopes, mode } = record;
  const isOver = record.expiresAt !== null && record.expiresAt <= Date.now();
  const status = record.status === 'active' && isOver ? 'expired' : record.status;
  const times = { expiresAt: record.expiresAt, lastUsedAt: record.lastUsedAt, createdAt: record.createdAt };
  const told = Object.entries(times).map(([key, at]) => [
    key,
    at === null ? null : new Date(at).toISOString(),
  ]);
  return { id, name, user: user?.email, keyPrefix, scopes, mode, status, ...Object.fromEntries(told) };
}
