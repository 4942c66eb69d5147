import { COLLECTIONS } from '@questline/core';
import { applyRetention, type ChargeBatch } from '@questline/core/internal';
import type { ArchivedCharge } from '@questline/core/ports';
import { createSqlPorts, migrate } from '@questline/sql';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { adminToken } from '../support/sign-in.ts';
import { createTestApp, NOW, type TestApp } from '../support/test-app.ts';
import { DAY_MS, PLACES, type Place } from './place.ts';

const CALLS = 36;
/** Between two calls. */
const STEP_MS = 4.15 * DAY_MS;
const START = NOW - 180 * DAY_MS;
const TEN_MINUTES_MS = 600_000;
const WAIT = { timeout: 20_000 };

/** An app with calls of half a year, and the lines that its archive has got. */
async function createArchivingApp(open: Place['open'], { isFull = (): boolean => false } = {}) {
  const engine = await open();
  if (engine !== undefined) {
    onTestFinished(() => engine.close());
    await migrate(engine.database, { collections: COLLECTIONS });
  }
  const batches: ChargeBatch[] = [];
  const charges: ArchivedCharge[] = [];
  const app = await createTestApp({
    now: START,
    settings: {
      worker: { pollMs: 300_000 },
      chargeArchive: {
        days: 90,
        async archive(lines, batch) {
          if (isFull()) throw new Error('the archive is full');
          batches.push(batch);
          for (const line of lines.trimEnd().split('\n')) charges.push(JSON.parse(line));
        },
      },
    },
    ...(engine !== undefined && { ports: (given) => createSqlPorts(engine.database, given) }),
  });
  for (let number = 0; number < CALLS; number += 1) {
    await pay(app, number);
    await app.clock.advance(STEP_MS);
  }
  await app.clock.advance(NOW - app.clock.now());
  await app.ledger.sweep();
  const admin = await adminToken(app);
  return { app, batches, charges, read: () => readAnswers(app, admin) };
}

const toDetails = ({ user, keyId }: TestApp, number: number) => ({
  operation: number % 3 === 0 ? 'createCompletion' : 'sendChatMessage',
  userId: user.id,
  requestId: `request ${number}`,
  ...(number % 4 > 0 && { model: `model-${number % 4}` }),
  ...(number % 2 === 0 && { keyId }),
});

async function pay(app: TestApp, number: number): Promise<void> {
  const { ledger, account, clock } = app;
  const details = toDetails(app, number);
  const key = `call ${number}`;
  if (number % 7 === 6) return ledger.record({ account, key, details, usage: { input: number } });
  const request = { account, amount: 10_000, key, expiresAt: clock.now() + 60_000, details };
  const outcome = await ledger.hold({ ...request, cap: { id: 'cap', limit: 10_000_000 } });
  if (outcome.outcome !== 'held') throw new Error(outcome.outcome);
  if (number % 7 === 5) return ledger.release(outcome.hold);
  await ledger.settle(outcome.hold, 5000 + number, { input: number, seconds: 0.25 });
}

/** The answers about credits, usage and reports that may not change. */
async function readAnswers(app: TestApp, admin: string): Promise<Readonly<Record<string, unknown>>> {
  const token = await app.token();
  const read = async (path: string, credential?: string): Promise<string> => {
    const response = await app.ask('GET', path, { ...(credential !== undefined && { credential }) });
    expect(response.status, path).toBe(200);
    return response.text();
  };
  const period = `from=${new Date(START).toISOString()}&to=${new Date(NOW).toISOString()}`;
  const reports = ['', '&group_by=day,model', '&group_by=operation,key', '&group_by=user,organization'];
  const exported = (await read('/api/credits/export?format=ndjson', token)).trimEnd().split('\n');
  const { recent: _, rate_limit: __, ...usage } = JSON.parse(await read('/api/v1/usage'));
  return {
    credits: await read('/api/v1/credits'),
    usage,
    own: await Promise.all(reports.map((more) => read(`/api/v1/usage/report?${period}${more}`))),
    ofUser: await Promise.all(reports.map((more) => read(`/api/v1/usage/report?${period}${more}`, token))),
    all: await Promise.all(reports.map((more) => read(`/api/usage-report?${period}${more}`, admin))),
    transactions: await read('/api/credits/transactions?days=89', token),
    exported: exported.map((line) => {
      const { id, cursor, micro_credits: amount, reason, key, created_at: time } = JSON.parse(line);
      return { id, cursor, amount, reason, key, time };
    }),
    cap: await app.ledger.capUsed('cap'),
    balance: await app.ledger.balance(app.account),
    spent: await app.ledger.spent({ userId: app.user.id }, START),
  };
}

describe.each(PLACES)('the archive of charges on $name', ({ open }) => {
  it('leaves the answers about credits, usage and reports as they were', async () => {
    const { app, batches, charges, read } = await createArchivingApp(open);
    const before = await read();
    const listed = await app.ledger.charges({ account: app.account }, 100);
    const isOld = ({ createdAt }: { readonly createdAt: number }) => createdAt < NOW - 90 * DAY_MS;
    const old = listed.filter(isOld);

    const dryRun = await applyRetention(app.services, { isDryRun: true });
    expect(dryRun.at(-1)).toEqual({ kind: 'charges', days: 90, newest: undefined, records: old.length });
    expect(batches).toEqual([]);
    const applied = await applyRetention(app.services, { isDryRun: false });
    expect(applied.at(-1)).toEqual({ kind: 'charges', days: 90, newest: undefined, records: old.length });

    expect(await read()).toEqual(before);
    const kept = await app.ledger.charges({ account: app.account }, 100);
    expect(kept.map(({ id }) => id)).toEqual(listed.filter((one) => !isOld(one)).map(({ id }) => id));
    expect(charges.map(({ id }) => id)).toEqual(old.map(({ id }) => id).toReversed());
    expect(charges[1]).toMatchObject({ key: 'call 1', status: 'settled', ...toDetails(app, 1) });
    expect(batches).toMatchObject([
      { charges: old.length, from: charges[0]?.createdAt, to: charges.at(-1)?.createdAt },
    ]);
    expect(batches[0]?.id).toMatch(/^[0-9a-f]+-[0-9a-f]{16}$/);
    // The keys still charge once.
    for (let number = 0; number < CALLS; number += 1) if (number % 7 !== 5) await pay(app, number);
    expect(await read()).toEqual(before);
    console.log(`${old.length} of ${listed.length} charges archived`);
  });

  it('gets charges from a periodic task, and keeps them after a failure', async () => {
    let isFull = true;
    const { app, charges, read } = await createArchivingApp(open, { isFull: () => isFull });
    const before = await read();
    await app.api.start();
    await app.clock.advance(TEN_MINUTES_MS);
    const full = { error: expect.objectContaining({ message: 'the archive is full' }) };
    await vi.waitFor(() => expect(app.incidents).toContainEqual(expect.objectContaining(full)), WAIT);
    expect(await app.ledger.charges({ account: app.account }, 100)).toHaveLength(CALLS);
    isFull = false;
    await app.clock.advance(TEN_MINUTES_MS);
    await vi.waitFor(async () => {
      const kept = await app.ledger.charges({ account: app.account }, 100);
      expect(kept.length).toBeLessThan(CALLS);
      expect(charges.length + kept.length).toBe(CALLS);
    }, WAIT);
    await app.api.close();
    const { usage: _, ...after } = await read();
    const { usage: __, ...sums } = before;
    expect(after).toEqual(sums);
  });
});

describe('an archive of charges', () => {
  it('needs a ledger that can archive', async () => {
    const create = () =>
      createTestApp({
        ledger: ({ archiveCharges: _, ...without }) => without,
        settings: { chargeArchive: { days: 90, archive: async () => {} } },
      });
    await expect(create()).rejects.toThrow('settings.chargeArchive: expected a ledger with archiveCharges()');
  });
});
