import { once } from 'node:events';
import { join } from 'node:path';
import { COLLECTIONS } from '@questline/core';
import { AUDIT_LOG, GRANT_INTENTS } from '@questline/core/internal';
import { describe, expect, it, vi } from 'vitest';
import { migrate } from '../../../packages/sql/src/index.ts';
import { type Engine, POSTGRES, POSTGRES_URL, SQLITE_FILE } from '../../../packages/sql/test/engines.ts';
import { forkScript } from '../../support/children/fork.ts';
import type { GrantCrash, GrantOrder } from './protocol.ts';
import { openGrantWorkspace } from './workspace.ts';

const ENGINES: readonly Engine[] = [SQLITE_FILE, ...(POSTGRES_URL === undefined ? [] : [POSTGRES])];
const POINTS: readonly (GrantCrash | undefined)[] = ['before-grant', 'after-grant', undefined];
/** Longer than the time after which an intent is looked at. */
const AHEAD_MS = 11 * 60_000;
const ACCOUNT = 'user:ada';
const CHILD = join(import.meta.dirname, 'grants.child.ts');

/** @returns the signal that ended the process. */
async function runChild(order: GrantOrder): Promise<NodeJS.Signals | null> {
  const child = forkScript(CHILD);
  child.send(order);
  const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return signal;
}

describe.each(ENGINES)('the audit log of grants on $name', (engine) => {
  it('has exactly the grants of the ledger after processes were killed at any point', {
    timeout: 600_000,
  }, async () => {
    const { database, address, close } = await engine.open();
    await migrate(database, { collections: COLLECTIONS });
    for (const crash of POINTS) {
      const order = { address, account: ACCOUNT, key: `key ${crash}`, ...(crash && { crash }) };
      expect([crash, await runChild(order)]).toEqual([crash, crash === undefined ? null : 'SIGKILL']);
    }
    const errors: unknown[] = [];
    const later = openGrantWorkspace(address, { ahead: AHEAD_MS, onError: (error) => errors.push(error) });
    const { store, ledger } = later.services;
    expect(await store.collection(GRANT_INTENTS).count({})).toBe(2);
    expect(await store.collection(AUDIT_LOG).count({ action: 'credits.granted' })).toBe(1);

    await later.api.start();
    await vi.waitFor(async () => expect(await store.collection(GRANT_INTENTS).count({})).toBe(0), {
      timeout: 60_000,
      interval: 100,
    });
    const entries = await store.collection(AUDIT_LOG).find({ action: 'credits.granted' });
    const granted = await ledger.entries(ACCOUNT, { limit: 100 });
    const logged = entries.map(({ changes }) => {
      const getNew = (name: string) => changes.find(({ field }) => field === name)?.after;
      return { key: String(getNew('key')), amount: Number(getNew('credits')) * 1e6 };
    });
    const byKey = (a: { key: string }, b: { key: string }): number => a.key.localeCompare(b.key);
    expect(logged.sort(byKey)).toEqual(granted.map(({ key, amount }) => ({ key, amount })).sort(byKey));
    expect(granted.map(({ key }) => key).sort()).toEqual(['key after-grant', 'key undefined']);

    // The request is repeated after the crash: the credit is granted once, with one entry.
    await ledger.grant({ account: ACCOUNT, amount: 5_000_000, key: 'key before-grant', reason: 'again' });
    expect(await ledger.balance(ACCOUNT)).toMatchObject({ posted: 15_000_000 });
    expect(await store.collection(AUDIT_LOG).count({ action: 'credits.granted' })).toBe(3);
    expect(errors).toEqual([]);
    await later.api.close();
    await later.close();
    await close();
  });
});
