import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createUser } from '@questline/core';
import {
  ANALYTICS_EVENTS,
  API_KEYS,
  ORGANIZATIONS,
  WEBHOOK_DELIVERIES,
  WEBHOOKS,
} from '@questline/core/internal';
import { createSqliteDatabase, createSqlLedger } from '@questline/sql';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { run } from '../src/cli/run.ts';
import { readConfiguration } from '../src/environment/configuration.ts';
import { createLog } from '../src/log.ts';
import { findSecrets } from '../src/secrets.ts';
import { sqlitePath } from '../src/storage/sqlite.ts';
import { openWorkspace } from '../src/workspace.ts';
import { emptyFolder } from './command.ts';

const ADA = 'ada@example.com';

/** A workspace with one account and one organization, and its commands, in this process. */
async function createPlace() {
  const folder = emptyFolder();
  const open = async (environment: Readonly<Record<string, string>> = {}) => {
    const configuration = readConfiguration({ STORAGE_DIR: folder, ...environment });
    const workspace = await openWorkspace({
      configuration,
      secrets: findSecrets(configuration.storageDir, configuration.secrets),
      publicUrl: 'http://localhost',
      log: createLog({ secrets: [], destination: { write: () => undefined } }),
      print: () => undefined,
      demo: false,
      observers: [],
      onFailure: undefined,
    });
    onTestFinished(() => workspace.close());
    return workspace;
  };
  const { services } = await open();
  const user = await createUser(services, { email: ADA, username: 'ada' });
  const id = services.ids.next();
  await services.store.collection(ORGANIZATIONS).insert({
    id,
    ownerId: user?.id ?? '',
    name: 'Analytical Engines',
    slug: 'engines',
    description: null,
    subscriptionTier: 'free',
    subscriptionStatus: 'trial',
    createdAt: 1,
  });
  const command = async (...args: string[]) => {
    const said = { stdout: '', stderr: '' };
    const code = await run([...args, '--json'], {
      environment: { STORAGE_DIR: folder },
      folder,
      print: (text) => {
        said.stdout += text;
      },
      complain: (text) => {
        said.stderr += text;
      },
      onShutdownSignal: () => () => undefined,
    });
    return code === 0 ? JSON.parse(said.stdout) : { code, error: said.stderr };
  };
  return { services, organizationId: id, command, open, folder };
}

describe('questline retention', () => {
  it('counts and deletes what the settings of the server do not keep', async () => {
    const { services, command, folder } = await createPlace();
    const events = services.store.collection(ANALYTICS_EVENTS);
    const event = { userId: 'u', event: 'opened', properties: {} };
    await events.insert({ id: 'old', ...event, createdAt: Date.now() - 3 * 86_400_000 });
    await events.insert({ id: 'new', ...event, createdAt: Date.now() });
    writeFileSync(join(folder, '.env'), 'QUESTLINE_RETENTION=analytics=2\nQUESTLINE_KEEP_NEWEST=quests=10\n');
    const kinds = [
      { kind: 'responses', days: 30, newest: null, records: 0 },
      { kind: 'analytics', days: 2, newest: null, records: 1 },
      { kind: 'deliveries', days: 7, newest: null, records: 0 },
      { kind: 'quests', days: null, newest: 10, records: 0 },
    ];
    const dryRun = await command('retention', '--dry-run');
    expect(dryRun.dryRun).toBe(true);
    expect(dryRun.kinds).toHaveLength(kinds.length);
    expect(dryRun.kinds).toEqual(expect.arrayContaining(kinds));
    expect(await events.count({})).toBe(2);
    const { dryRun: isDry, kinds: deleted } = await command('retention');
    expect(isDry).toBe(false);
    expect(deleted).toEqual(dryRun.kinds);
    expect((await events.find({})).map(({ id }) => id)).toEqual(['new']);
  });
});

describe('questline retention with an archive', () => {
  it('counts old charges, writes them to files by month, and keeps their sums', async () => {
    const { services, command, folder } = await createPlace();
    const database = createSqliteDatabase({ path: sqlitePath(folder, false) });
    const clock = createFakeClock(Date.UTC(2025, 2, 31, 23));
    const old = createSqlLedger(database, { clock, ids: services.ids });
    const details = { operation: 'sendChatMessage' };
    for (const key of ['first', 'second']) {
      await old.record({ account: 'user:a', key, details, usage: { input: 5 } });
    }
    await database.close();
    await services.ledger.record({ account: 'user:a', key: 'young', details });
    writeFileSync(join(folder, '.env'), 'QUESTLINE_CHARGE_ARCHIVE_DAYS=90\n');
    const charges = { kind: 'charges', days: 90, newest: null, records: 2 };
    expect((await command('retention', '--dry-run')).kinds).toContainEqual(charges);
    expect(existsSync(join(folder, 'charge-archive'))).toBe(false);
    expect((await command('retention')).kinds).toContainEqual(charges);
    expect((await command('retention')).kinds).toContainEqual({ ...charges, records: 0 });

    const month = join(folder, 'charge-archive', '2025-03');
    const [name = '', ...others] = readdirSync(month);
    expect(name).toMatch(/^[0-9a-f]+-[0-9a-f]{16}\.ndjson\.gz$/);
    expect(others).toEqual([]);
    const lines = gunzipSync(readFileSync(join(month, name)))
      .toString()
      .trimEnd()
      .split('\n');
    expect(lines.map((line) => JSON.parse(line).key)).toEqual(['first', 'second']);
    const query = {
      filter: { account: 'user:a' },
      from: 0,
      to: Date.now() + 3_600_000,
      groupBy: [],
      limit: 1,
    };
    expect(await services.ledger.sumCharges?.(query)).toMatchObject([{ requests: 3, usage: { input: 10 } }]);
    expect(await services.ledger.charges({ account: 'user:a' }, 10)).toHaveLength(1);
  });
});

describe('questline webhooks', () => {
  it('lists webhooks and deliveries without secrets, and replays what failed', async () => {
    const { services, organizationId, command } = await createPlace();
    const webhook = {
      owner: `organization:${organizationId}`,
      organizationId,
      createdBy: '',
      description: '',
    };
    const rest = {
      url: 'https://a.example.com',
      types: ['quest.done'],
      sealedSecret: 'sealed',
      createdAt: 1,
    };
    const status = { status: 'disabled', disabledFor: 'failing' } as const;
    await services.store.collection(WEBHOOKS).insert({ id: 'w', ...webhook, ...rest, ...status });
    const deliveries = services.store.collection(WEBHOOK_DELIVERIES);
    const delivery = {
      webhookId: 'w',
      type: 'quest.done',
      payload: '{}',
      attempts: 11,
      failures: 10,
      since: 1,
    };
    await deliveries.insert({ id: 'd1', eventId: 'evt_1', status: 'failed', createdAt: 1, ...delivery });
    await deliveries.insert({ id: 'd2', eventId: 'evt_2', status: 'delivered', createdAt: 2, ...delivery });

    const { webhooks } = await command('webhooks', 'list');
    expect(webhooks).toMatchObject([{ id: 'w', owner: 'Analytical Engines', status: 'disabled: failing' }]);
    expect(JSON.stringify(webhooks)).not.toContain('sealed');
    expect((await command('webhooks', 'deliveries', 'w')).deliveries).toHaveLength(2);
    expect((await command('webhooks', 'deliveries', 'w', '--status', 'failed')).deliveries).toMatchObject([
      { id: 'd1', eventId: 'evt_1', attempts: 11 },
    ]);
    expect(await command('webhooks', 'deliveries', 'w', '--status', 'x')).toMatchObject({ code: 2 });
    expect(await command('webhooks', 'replay', 'unknown')).toMatchObject({
      error: 'questline: there is no webhook unknown\n',
    });
    expect(await command('webhooks', 'replay', 'w')).toMatchObject({
      error: 'questline: the webhook w is disabled; add --enable\n',
    });
    expect(await command('webhooks', 'replay', 'w', '--enable')).toEqual({ replayed: ['d1'] });
    expect(await deliveries.get('d1')).toMatchObject({ status: 'pending', failures: 0 });
    expect(await services.queue.counts()).toMatchObject({ ready: 1 });
    expect(await command('webhooks', 'replay', 'w', '--delivery', 'd2')).toEqual({ replayed: ['d2'] });
    expect(await services.store.collection(WEBHOOKS).get('w')).toMatchObject({ status: 'active' });
  });
});

describe('questline credits', () => {
  it('grants credits to an organization by its id or slug', async () => {
    const { services, organizationId, command } = await createPlace();
    expect(await command('credits', 'grant', organizationId, '12.5')).toMatchObject({
      granted: true,
      organization: 'Analytical Engines',
      balance: 12.5,
    });
    expect(await command('credits', 'grant', 'engines', '2', '--take')).toMatchObject({ balance: 10.5 });
    expect(await command('credits', 'balance', 'engines')).toMatchObject({ balance: 10.5, reserved: 0 });
    const { available } = await services.ledger.balance(`organization:${organizationId}`);
    expect(available).toBe(10_500_000);
    expect(await command('credits', 'grant', ADA, '1')).toMatchObject({ user: ADA, balance: 1 });
    expect(await command('credits', 'grant', 'nothing', '1')).toMatchObject({
      error: 'questline: there is no account nothing\n',
    });
  });
});

describe('questline keys create', () => {
  it('sets the limits of the key', async () => {
    const { services, command } = await createPlace();
    const made = await command(
      ...['keys', 'create', ADA, '--preset', 'read', '--per-minute', '600', '--per-day', '100000'],
      ...['--spend-cap', '2.5', '--spend-period', 'day', '--models', 'demo-chat, demo-image,demo-chat'],
    );
    const models = ['demo-chat', 'demo-image'];
    expect(made).toMatchObject({
      models,
      rateLimit: { requestsPerMinute: 600, requestsPerDay: 100_000 },
      spendCap: { credits: 2.5, period: 'day' },
    });
    expect(await services.store.collection(API_KEYS).get(made.id)).toMatchObject({
      requestsPerMinute: 600,
      requestsPerDay: 100_000,
      spendCap: { amount: 2_500_000, period: 'day' },
      models,
    });
    expect(await command('keys', 'create', ADA, '--preset', 'read')).toMatchObject({
      rateLimit: { requestsPerMinute: 60, requestsPerDay: 1000 },
      spendCap: null,
      models: null,
    });
  });

  it.each([
    [['--models', ' , '], '--models: expected at least one model'],
    [['--models', 'x'.repeat(201)], '--models: expected ids of at most 200 characters'],
    [['--per-minute', '0'], "--per-minute: expected a whole number from 1 to 10000, got '0'"],
    [['--per-day', 'many'], "--per-day: expected a whole number from 1 to 1000000, got 'many'"],
    [['--spend-cap', '-1'], "--spend-cap: expected a number above 0 with at most 6 decimals, got '-1'"],
    [['--spend-period', 'week'], "--spend-period: expected one of day, month, total, got 'week'"],
  ])('rejects %j', async (more, message) => {
    const { command } = await createPlace();
    const answer = await command('keys', 'create', ADA, '--preset', 'read', ...more);
    expect(answer).toMatchObject({ code: 2, error: expect.stringContaining(message) });
  });
});

describe('secret of a workspace', () => {
  it('that was given once must be given again, or found in the file', async () => {
    const place = await createPlace();
    const secrets = ['JWT_SECRET', 'SESSION_SECRET'];
    const kept = Object.fromEntries(
      ['JWT_SECRET', 'SESSION_SECRET', 'SECRET_ENCRYPTION_KEY'].map((name, index) => [
        name,
        String(index).repeat(64),
      ]),
    );
    // The first start generated its secrets and stored them in the file.
    await place.open();
    const folder = emptyFolder();
    const open = (given: Readonly<Record<string, string>>) => place.open({ STORAGE_DIR: folder, ...given });
    await open(kept);
    for (const name of secrets) {
      const { [name]: _, ...others } = kept;
      await expect(open(others)).rejects.toThrow(`${name}: missing, but this workspace has one; set it`);
    }
    const { SECRET_ENCRYPTION_KEY: key = '' } = kept;
    await expect(open({})).rejects.toMatchObject({
      issues: [expect.anything(), expect.anything(), expect.anything()],
    });
    // A configured value replaces the previous one.
    await open({ ...kept, JWT_SECRET: 'd'.repeat(64) });
    await expect(open({ SECRET_ENCRYPTION_KEY: key })).rejects.toThrow('JWT_SECRET: missing');
  });
});
