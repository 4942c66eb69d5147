import { describe, expect, it } from 'vitest';
import { asAdmin } from '../support/people.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

interface Line {
  readonly cursor: string;
  readonly id: string;
  readonly account: string;
  readonly micro_credits: number;
}

async function pay({ services, user }: TestApp, key: string, amount: number): Promise<() => Promise<void>> {
  const { ledger, clock } = services;
  const details = { operation: 'createCompletion', model: '@demo', userId: user.id };
  const account = `user:${user.id}`;
  const held = await ledger.hold({ account, amount, key, expiresAt: clock.now() + 60_000, details });
  if (held.outcome !== 'held') throw new Error(held.outcome);
  return async () => void (await ledger.settle(held.hold, amount, { input: 1 }));
}

async function read(app: TestApp, query: string): Promise<string> {
  const { headers } = await asAdmin()(app);
  const answer = await app.ask('GET', `/api/ledger/export?${query}`, {
    credential: null,
    headers: headers as Record<string, string>,
  });
  expect(answer.status).toBe(200);
  return answer.text();
}

const parse = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

describe('an export of the ledger', () => {
  it('continues at a cursor, with every entry once, also after late settlements', async () => {
    const app = await createTestApp();
    const late = await pay(app, 'late', 1_000_003);
    await (await pay(app, 'first', 7))();
    const before = parse(await read(app, 'format=ndjson'));
    expect(before).toHaveLength(2);
    await late();
    const grant = { account: `user:${app.user.id}`, amount: 11, key: 'more', reason: 'more' };
    await app.services.ledger.grant(grant);
    const after = parse(await read(app, `cursor=${before.at(-1)?.cursor}`));
    expect(after.map((line) => line.micro_credits)).toEqual([-1_000_003, 11]);
    const all = [...before, ...after];
    expect(new Set(all.map(({ id }) => id)).size).toBe(4);
    const { posted } = await app.services.ledger.balance(app.account);
    expect(all.reduce((sum, line) => sum + line.micro_credits, 0)).toBe(posted);
    expect(parse(await read(app, `cursor=${all.at(-1)?.cursor}`))).toEqual([]);
  });

  it('writes more than one page, and the same sums as CSV', async () => {
    const app = await createTestApp();
    for (let at = 0; at < 1200; at += 1) {
      await app.services.ledger.grant({ account: app.account, amount: at + 1, key: `${at}`, reason: 'many' });
    }
    const lines = parse(await read(app, 'format=ndjson'));
    expect(lines).toHaveLength(1201);
    const [head = '', ...rows] = (await read(app, 'format=csv')).trimEnd().split('\r\n');
    const column = head.split(',').indexOf('micro_credits');
    const sum = rows.reduce((total, row) => total + Number(row.split(',')[column]), 0);
    expect(sum).toBe((await app.services.ledger.balance(app.account)).posted);
  });

  it('writes no cell that a spreadsheet calculates, and quotes what CSV requires', async () => {
    const app = await createTestApp();
    const texts = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', ' =1', 'a,b', 'a"b', 'a\nb', 'plain'];
    for (const [at, reason] of texts.entries()) {
      await app.services.ledger.grant({ account: app.account, amount: 1, key: `key ${at}`, reason });
    }
    const csv = await read(app, 'format=csv');
    for (const cell of [",'=1+1,", ",'+1,", ",'-1,", ",'@SUM(A1),", ',"\'\t=1",', ',"\'\r=1",', ",' =1,"]) {
      expect(csv).toContain(cell);
    }
    for (const cell of [',"a,b",', ',"a""b",', ',"a\nb",', ',plain,']) expect(csv).toContain(cell);
  });
});

describe('a usage report', () => {
  it('refuses a long time, a wrong order and too many values', async () => {
    const app = await createTestApp({ key: { scopes: ['me:read'] } });
    for (const query of [
      'from=2016-01-01T00:00:00Z',
      'from=2026-11-20T00:00:00Z&to=2026-11-19T00:00:00Z',
      'group_by=day,model,key',
      'group_by=day,day',
      'group_by=moon',
      'from=yesterday',
    ]) {
      expect((await app.ask('GET', `/api/v1/usage/report?${query}`)).status).toBe(422);
    }
  });

  it('adds up exactly what was charged, by day', async () => {
    const app = await createTestApp();
    const expected = new Map<string, number>();
    for (let at = 0; at < 30; at += 1) {
      const day = new Date(app.clock.now()).toISOString().slice(0, 10);
      await (await pay(app, `call ${at}`, 1_000_001 + at))();
      expected.set(day, (expected.get(day) ?? 0) + 1_000_001 + at);
      await app.clock.advance(5 * 3_600_000);
    }
    const credential = await app.token();
    const answer = await app.ask('GET', '/api/v1/usage/report?group_by=day', { credential });
    const report = (await answer.json()) as {
      groups: { group: { day: string }; credits: number }[];
      total: { credits: number; requests: number };
    };
    expect(report.groups.map(({ group, credits }) => [group.day, Math.round(credits * 1e6)])).toEqual([
      ...expected,
    ]);
    expect(report.total.requests).toBe(30);
    const { posted } = await app.services.ledger.balance(app.account);
    expect(1_000_000_000 - Math.round(report.total.credits * 1e6)).toBe(posted);
  });
});
