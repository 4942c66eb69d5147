import { describe, expect, it } from 'vitest';
import { grant, pay as payAtOnce } from '../support/charges.ts';
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
  it.each([
    ['ndjson', 'application/x-ndjson'],
    ['csv', 'text/csv'],
  ])('as %s is a file of type %s', async (format, type) => {
    const app = await createTestApp();
    const { headers } = await asAdmin()(app);
    const answer = await app.ask('GET', `/api/ledger/export?format=${format}`, {
      credential: null,
      headers: headers as Record<string, string>,
    });
    expect(answer.headers.get('content-type')).toBe(`${type}; charset=utf-8`);
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="credits.${format}"`);
  });

  it('contains what is known of each entry, the same in both formats', async () => {
    const app = await createTestApp({ credits: 2 });
    const details = { operation: 'chat', model: 'scripted', keyId: 'k1', userId: 'u1', requestId: 'r1' };
    const usage = {
      input: 1,
      output: 2,
      cachedInput: 3,
      cacheWrite: 4,
      reasoning: 5,
      images: 6,
      seconds: 7.5,
    };
    await payAtOnce(app, { ...details, amount: 1, usage: { ...usage, characters: 8, bytes: 9 } });
    const common = { account: app.account, created_at: '2026-11-21T12:00:00.000Z' };
    const none = { operation: null, model: null, key_id: null, user_id: null, request_id: null };
    const units = {
      input_tokens: 1,
      output_tokens: 2,
      cached_input_tokens: 3,
      cache_write_tokens: 4,
      reasoning_tokens: 5,
      images: 6,
      seconds: 7.5,
      characters: 8,
      bytes: 9,
    };
    const lines = parse(await read(app, 'format=ndjson'));
    expect(lines).toMatchObject([
      { ...common, kind: 'grant', credits: 2, micro_credits: 2_000_000, ...none, usage: null },
      {
        ...common,
        kind: 'charge',
        credits: -0.000001,
        micro_credits: -1,
        operation: 'chat',
        model: 'scripted',
        key_id: 'k1',
        user_id: 'u1',
        request_id: 'r1',
        usage: units,
      },
    ]);
    const [head, first, second] = (await read(app, 'format=csv')).split('\r\n').map((row) => row.split(','));
    const toCells = (line: object | undefined) =>
      Object.fromEntries(Object.entries(line ?? {}).map(([name, cell]) => [name, `${cell ?? ''}`]));
    for (const [at, row] of [first, second].entries()) {
      const { usage: counts, ...columns } = lines[at] as Line & { readonly usage: object | null };
      const expected = { ...toCells(columns), ...toCells(counts ?? {}) };
      const read = Object.fromEntries((head ?? []).map((name, column) => [name, row?.[column]]));
      // Without an exponent, which spreadsheets read as text.
      expect(read).toMatchObject({ ...expected, ...(at === 1 && { credits: '-0.000001' }) });
    }
  });

  it('of the own account contains no entry of others, and accepts only its own cursors', async () => {
    const app = await createTestApp({ credits: 5 });
    const grace = await app.addUser('grace@example.com');
    await grant(app, `user:${grace.id}`, 7);
    const credential = await app.token(grace);
    const own = async (query = '') => app.ask('GET', `/api/credits/export${query}`, { credential });
    const [line, ...others] = parse(await (await own()).text());
    expect([line?.micro_credits, others]).toEqual([7_000_000, []]);
    const [first] = parse(await read(app, ''));
    expect((await own(`?cursor=${first?.cursor}`)).status).toBe(422);
    expect(await (await own(`?cursor=${line?.cursor}`)).text()).toBe('');
  });

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
  it('covers 366 days, and 30 by default', async () => {
    const app = await createTestApp({ key: { scopes: ['me:read'] } });
    const ask = async (query: string) => {
      const answer = await app.ask('GET', `/api/v1/usage/report?${query}`);
      return { status: answer.status, body: (await answer.json()) as { readonly from: string } };
    };
    expect((await ask('from=2025-01-01T00:00:00Z&to=2026-01-02T00:00:00Z')).status).toBe(200);
    expect((await ask('from=2025-01-01T00:00:00Z&to=2026-01-02T00:00:00.001Z')).status).toBe(422);
    expect((await ask('from=2025-01-01T00:00:00Z&to=2025-01-01T00:00:00Z')).status).toBe(422);
    expect((await ask('to=2026-01-31T00:00:00Z')).body.from).toBe('2026-01-01T00:00:00.000Z');
  });

  it('of a key contains its own calls, and of a user those of all keys, by model and key', async () => {
    const app = await createTestApp();
    const { user, keyId } = app;
    const ask = async (credential?: string) => {
      const path = `/api/v1/usage/report?group_by=model,key&to=2026-11-23T00:00:00Z`;
      const answer = await app.ask('GET', path, credential === undefined ? {} : { credential });
      return (await answer.json()) as { groups: object[]; total: object };
    };
    await payAtOnce(app, { userId: user.id, keyId, model: 'a', usage: { input: 1, output: 2 } });
    await payAtOnce(app, { userId: user.id, model: 'b', usage: { input: 4 } });
    await payAtOnce(app, { userId: 'another', keyId: 'another', model: 'c' });
    const own = { requests: 1, credits: 1, usage: { input_tokens: 1, output_tokens: 2 } };
    const byKey = await ask();
    expect([byKey.groups, byKey.total]).toEqual([[{ group: { model: 'a', key: keyId }, ...own }], own]);
    const byUser = await ask(await app.token());
    expect(byUser.groups).toHaveLength(2);
    expect(byUser.groups).toContainEqual({
      group: { model: 'b', key: null },
      requests: 1,
      credits: 1,
      usage: { input_tokens: 4 },
    });
    expect(byUser.total).toEqual({ requests: 2, credits: 2, usage: { input_tokens: 5, output_tokens: 2 } });
  });

  it('has at most 5000 groups', async () => {
    const group = { group: { model: 'a' }, requests: 1, amount: 1, usage: {} };
    let asked = 0;
    let signal: AbortSignal | undefined;
    const app = await createTestApp({
      ledger: (ledger) => ({
        ...ledger,
        sumCharges: async ({ limit }, options) => {
          signal = options?.signal;
          return Array.from({ length: Math.min(limit, asked) }, () => group);
        },
      }),
    });
    const ask = async (groups: number) => {
      asked = groups;
      return app.ask('GET', '/api/v1/usage/report?group_by=model');
    };
    expect((await ask(5000)).status).toBe(200);
    expect(signal).toBeInstanceOf(AbortSignal);
    const refused = await ask(5001);
    expect(JSON.stringify(await refused.json())).toContain('group_by: more than 5000 groups');
    expect(refused.status).toBe(422);
    expect((await ask(9000)).status).toBe(422);
  });

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
