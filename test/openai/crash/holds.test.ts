import { describe, expect, it, vi } from 'vitest';
import { type Engine, POSTGRES, POSTGRES_URL, SQLITE_FILE } from '../../../packages/sql/test/engines.ts';
import { stopServerProcess } from '../../support/server-process.ts';
import { setUp } from './set-up.ts';

const WITHIN = { timeout: 60_000, interval: 50 };
const BODY = { model: 'scripted', messages: [{ role: 'user' as const, content: 'Count to three.' }] };
/** A lease of a hold is 2.5 s; 15 minutes would be 90 s. */
const SPEED = 10;

const ENGINES: readonly Engine[] = [SQLITE_FILE, ...(POSTGRES_URL === undefined ? [] : [POSTGRES])];

describe.each(ENGINES)('a process that is killed during a completion, on $name', (engine) => {
  it('its hold is freed long before 15 minutes, and that of a slow, living process stays until its charge', async () => {
    const speed = { since: Date.now(), times: SPEED };
    const { services, account, start, closeAll } = await setUp(engine, speed);
    const { ledger, clock } = services;
    const held = async () => (await ledger.balance(account)).held;
    const [dying, living] = [await start('the beginning'), await start('the beginning, for some seconds')];

    const cut = dying.client.chat.completions.create(BODY).catch(() => 'cut');
    await vi.waitFor(async () => expect(await held()).toBeGreaterThan(0), WITHIN);
    const amount = await held();
    const answered = living.client.chat.completions.create(BODY);
    await vi.waitFor(async () => expect(await held()).toBe(2 * amount), WITHIN);

    await stopServerProcess(dying.server, 'SIGKILL');
    const killedAt = clock.now();
    expect(await cut).toBe('cut');
    await vi.waitFor(async () => expect(await held()).toBe(amount), WITHIN);
    // Longer than a lease: the living process has renewed its hold.
    await vi.waitFor(() => expect(clock.now() - killedAt).toBeGreaterThan(30_000), WITHIN);
    expect(await held()).toBe(amount);
    await ledger.sweep();
    const charges = await ledger.charges({ account }, 10);
    expect(charges.map(({ status }) => status).sort()).toEqual(['released', 'reserved']);

    const { usage } = await answered;
    const [charge, ...others] = (await ledger.charges({ account }, 10)).filter((one) => one.amount > 0);
    expect(charge).toMatchObject({ status: 'settled', usage: { input: usage?.prompt_tokens } });
    expect(others).toEqual([]);
    expect(await ledger.balance(account)).toMatchObject({ posted: 1e9 - (charge?.amount ?? 0), held: 0 });
    await stopServerProcess(living.server, 'SIGKILL');
    await closeAll();
  }, 120_000);
});
