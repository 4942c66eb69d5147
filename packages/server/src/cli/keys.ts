import { issueApiKey, revokeApiKey, type Scope, toCredits, USERS, type UserRecord } from '@questline/core';
import {
  API_KEYS,
  type ApiKeyRecord,
  getScopeListIssue,
  isScope,
  OFFERED_SCOPES,
  SCOPE_PRESETS,
  type ScopePreset,
} from '@questline/core/internal';
import { CliError } from '../cli-error.ts';
import { type Given, HELP } from './arguments.ts';
import type { Command } from './command.ts';
import { columns, JSON_OUTPUT, moment, show } from './output.ts';
import {
  DEMO,
  findUser,
  getText,
  getWhole,
  parseCredits,
  readAll,
  WORKSPACE_NOTES,
  withWorkspace,
} from './with-workspace.ts';

const PRESETS = Object.keys(SCOPE_PRESETS).join(', ');
/** The bounds of the API. */
const MAX_MODELS = 100;
const MAX_MODEL_ID = 200;
const PERIODS = ['day', 'month', 'total'] as const;

export const createKey: Command = {
  name: 'keys create',
  summary: 'Create an API key for an account. The key is shown once; only its hash is stored.',
  arguments: [{ name: 'EMAIL', meaning: 'owner of the key: e-mail address or account id' }],
  options: [
    { name: 'preset', value: 'NAME', meaning: `scopes by preset: one of ${PRESETS}` },
    { name: 'scopes', value: 'LIST', meaning: 'scopes by name, e.g. ai:chat,me:read' },
    { name: 'name', value: 'TEXT', meaning: 'display name (Command line)' },
    { name: 'test', meaning: 'use the prefix svc_test_ instead of svc_live_' },
    { name: 'expires', value: 'TIME', meaning: 'expiry date, e.g. 2027-01-31 (never)' },
    { name: 'per-minute', value: 'N', meaning: 'maximum requests per minute (60)' },
    { name: 'per-day', value: 'N', meaning: 'maximum requests per day (1000)' },
    { name: 'spend-cap', value: 'CREDITS', meaning: 'maximum credits that the key may spend (no maximum)' },
    { name: 'spend-period', value: 'NAME', meaning: `period of that maximum: ${PERIODS.join(', ')} (month)` },
    { name: 'models', value: 'LIST', meaning: 'models that the key may use, by id (all)' },
    JSON_OUTPUT,
    DEMO,
    HELP,
  ],
  notes: WORKSPACE_NOTES,
  async run(given, surroundings) {
    const name = getText(given, 'name') ?? 'Command line';
    if ([...name].length > 100) throw new CliError(['--name: expected at most 100 characters'], 2);
    const expiresAt = parseExpiry(getText(given, 'expires'));
    const wanted = wantedScopes(given);
    const limits = {
      requestsPerMinute: getWhole(given, 'per-minute', { min: 1, max: 10_000 }, 60),
      requestsPerDay: getWhole(given, 'per-day', { min: 1, max: 1_000_000 }, 1000),
      spendCap: parseSpendCap(getText(given, 'spend-cap'), getText(given, 'spend-period')),
      models: parseModels(getText(given, 'models')),
    };
    await withWorkspace(given, surroundings, async (services) => {
      const user = await findUser(services, String(given.get('EMAIL')));
      const scopes = wanted(user);
      const mode = given.has('test') ? 'test' : 'live';
      const { record, key } = await issueApiKey(services, {
        userId: user.id,
        name,
        scopes,
        mode,
        expiresAt,
        ...limits,
      });
      show(given, surroundings, { ...shown(record, user), key }, () =>
        [`${key}`, `Key ${record.id} of ${user.email}. It is not shown again.`, ''].join('\n'),
      );
    });
  },
};

export const listKeys: Command = {
  name: 'keys list',
  summary: 'List API keys by prefix, oldest first. The keys themselves are never shown.',
  options: [
    { name: 'user', value: 'EMAIL', meaning: 'only keys of this account' },
    { name: 'all', meaning: 'include expired and revoked keys' },
    JSON_OUTPUT,
    DEMO,
    HELP,
  ],
  notes: WORKSPACE_NOTES,
  async run(given, surroundings) {
    await withWorkspace(given, surroundings, async (services) => {
      const { store } = services;
      const who = getText(given, 'user');
      const owner = who === undefined ? undefined : await findUser(services, who);
      const keys = await readAll(store.collection(API_KEYS), {
        ...(owner !== undefined && { userId: owner.id }),
        ...(!given.has('all') && { status: 'active' }),
      });
      const users = new Map((await readAll(store.collection(USERS))).map((user) => [user.id, user]));
      const list = keys.map((key) => shown(key, users.get(key.userId)));
      show(given, surroundings, { keys: list }, () =>
        columns(
          ['ID', 'PREFIX', 'OWNER', 'NAME', 'STATUS', 'EXPIRES', 'LAST USED'],
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
  summary: 'Revoke an API key. Running servers reject it within two seconds.',
  arguments: [{ name: 'ID', meaning: 'key id from `questline keys list`' }],
  options: [{ name: 'reason', value: 'TEXT', meaning: 'stored with the key' }, JSON_OUTPUT, DEMO, HELP],
  notes: WORKSPACE_NOTES,
  async run(given, surroundings) {
    const id = String(given.get('ID'));
    await withWorkspace(given, surroundings, async (services) => {
      const record = await services.store.collection(API_KEYS).get(id);
      if (record === undefined) throw new CliError([`there is no key ${id}`]);
      await revokeApiKey(services, record.userId, id, getText(given, 'reason'));
      show(given, surroundings, { id, status: 'disabled' }, () => `Revoked the key ${id}.\n`);
    });
  },
};

/** Validates the options before the workspace is opened; what the owner may grant is checked afterwards. */
function wantedScopes(given: Given): (owner: UserRecord) => readonly Scope[] {
  const preset = getText(given, 'preset');
  const list = getText(given, 'scopes');
  if ((preset === undefined) === (list === undefined)) {
    throw new CliError([`missing scopes: use --preset (one of ${PRESETS}) or --scopes`], 2);
  }
  if (preset !== undefined) {
    if (!(preset in SCOPE_PRESETS))
      throw new CliError([`--preset: expected one of ${PRESETS}, got '${preset}'`], 2);
    return () => SCOPE_PRESETS[preset as ScopePreset];
  }
  const names = splitList(list ?? '');
  const unknown = names.filter((one) => !isScope(one));
  if (unknown.length > 0) throw new CliError([`--scopes: unknown scope ${unknown.join(', ')}`], 2);
  const scopes = names.filter(isScope);
  const issue = scopes.length === 0 ? 'expected at least one' : getScopeListIssue(scopes);
  if (issue !== undefined) throw new CliError([`--scopes: ${issue}`], 2);
  return ({ email, isAdmin }) => {
    const refused = scopes.filter((one) => !OFFERED_SCOPES.includes(one) && !(isAdmin && one === 'admin:*'));
    if (refused.length === 0) return scopes;
    throw new CliError([`--scopes: ${refused.join(', ')} cannot be given to a key of ${email}`]);
  };
}

/** Providers are not loaded here: a model that does not exist has no effect. */
function parseModels(list: string | undefined): readonly string[] | null {
  if (list === undefined) return null;
  const models = splitList(list);
  if (models.length === 0) throw new CliError(['--models: expected at least one model'], 2);
  if (models.length > MAX_MODELS) throw new CliError([`--models: expected at most ${MAX_MODELS} models`], 2);
  if (models.some((id) => id.length > MAX_MODEL_ID)) {
    throw new CliError([`--models: expected ids of at most ${MAX_MODEL_ID} characters`], 2);
  }
  return models;
}

/** Names of a list with commas, each once. */
function splitList(list: string): readonly string[] {
  const names = list.split(',').map((one) => one.trim());
  return [...new Set(names.filter((one) => one !== ''))];
}

function parseExpiry(text: string | undefined): number | null {
  if (text === undefined) return null;
  const at = Date.parse(text);
  if (Number.isNaN(at) || at <= Date.now()) {
    throw new CliError([`--expires: expected a time in the future, e.g. 2027-01-31, got '${text}'`], 2);
  }
  return at;
}

function parseSpendCap(credits: string | undefined, period = 'month'): ApiKeyRecord['spendCap'] {
  const known = PERIODS.find((one) => one === period);
  if (known === undefined) {
    throw new CliError([`--spend-period: expected one of ${PERIODS.join(', ')}, got '${period}'`], 2);
  }
  return credits === undefined ? null : { amount: parseCredits('--spend-cap', credits), period: known };
}

function shown(record: ApiKeyRecord, user: UserRecord | undefined) {
  const { id, name, keyPrefix, scopes, mode } = record;
  const isOver = record.expiresAt !== null && record.expiresAt <= Date.now();
  const status = record.status === 'active' && isOver ? 'expired' : record.status;
  const times = { expiresAt: record.expiresAt, lastUsedAt: record.lastUsedAt, createdAt: record.createdAt };
  const dates = Object.entries(times).map(([key, at]) => [
    key,
    at === null ? null : new Date(at).toISOString(),
  ]);
  const { requestsPerMinute, requestsPerDay, spendCap, models = null } = record;
  const limits = {
    rateLimit: { requestsPerMinute, requestsPerDay },
    spendCap: spendCap && { credits: toCredits(spendCap.amount), period: spendCap.period },
    models,
  };
  return {
    id,
    name,
    user: user?.email,
    keyPrefix,
    scopes,
    mode,
    status,
    ...limits,
    ...Object.fromEntries(dates),
  };
}
