import type { Pool } from 'pg';
import type { Memory } from './memory.ts';

/** The prefix of the demo's tables. */
const T = 'questline_demo_';

/** Reads the tables, and compares them with what the clients received. */
export interface Audit {
  readonly name: string;
  /** Descriptions of what is wrong. Must be empty. */
  readonly wrong: readonly string[];
}

const QUERIES: Readonly<Record<string, string>> = {
  'not terminal': `select id, status from ${T}quests where status not in ('done', 'stopped')`,
  'entries charged twice': `select account, key, count(*) from ${T}ledger_entries where kind = 'charge'
    group by 1, 2 having count(*) > 1`,
  'requests charged twice': `select request_id, count(*) from ${T}ledger_charges where charged > 0
    group by 1 having count(*) > 1`,
  'drift of posted': `select a.account, a.posted, e.sum as entries, c.sum as charges from ${T}ledger_accounts a
    left join (select account, sum(amount), sum(amount) filter (where kind = 'grant') as granted
      from ${T}ledger_entries group by 1) e using (account)
    left join (select account, sum(charged) from ${T}ledger_charges group by 1) c using (account)
    where a.posted <> coalesce(e.sum, 0) or a.posted <> coalesce(e.granted, 0) - coalesce(c.sum, 0)`,
  'drift of held': `select a.account, a.held, h.sum from ${T}ledger_accounts a
    left join (select account, sum(amount) from ${T}ledger_holds where counted group by 1) h using (account)
    where a.held <> coalesce(h.sum, 0)`,
  'accounts below 0': `select account, posted from ${T}ledger_accounts where posted < 0 or posted < held`,
  'messages per quest': `select q.id, q.record->>'kind' as kind, q.status, q.record->>'type' as type,
      count(m.id) filter (where m.record->>'role' = 'user') as asked,
      count(m.id) filter (where m.record->>'role' <> 'user') as answered
    from ${T}quests q left join ${T}messages m on m.record->>'questId' = q.id
    group by 1, 2, 3, 4 having count(m.id) filter (where m.record->>'role' = 'user') <> 1
      or count(m.id) filter (where m.record->>'role' <> 'user') > 1
      or (q.status = 'done' and q.record->>'type' = 'message'
        and count(m.id) filter (where m.record->>'role' <> 'user') = 0)`,
  'quests reported another amount': `select q.id, q.status, q.record->>'type' as type,
      coalesce((q.record->'promptMeta'->>'credits')::numeric * 1000000, 0)::bigint as reported, coalesce(sum(c.charged), 0) as charged
    from ${T}quests q left join ${T}ledger_charges c on c.request_id = q.record->'request'->>'requestId'
    group by 1, 2, 3, 4
    having coalesce((q.record->'promptMeta'->>'credits')::numeric * 1000000, 0)::bigint <> coalesce(sum(c.charged), 0)`,
};

const OPEN_WORK = `select (select count(*) from ${T}quests where status not in ('done', 'stopped'))
  + (select count(*) from ${T}jobs where run_at < extract(epoch from now()) * 1000 + 60000) as open`;

export async function countOpenWork(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ open: string }>(OPEN_WORK);
  return Number(rows[0]?.open);
}

export async function countHolds(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(`select count(*) from ${T}ledger_holds`);
  return Number(rows[0]?.count);
}

/** Accounts below 0 at this moment. */
export async function findOverdrawn(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<object>(QUERIES['accounts below 0'] ?? '');
  return rows.map((row) => JSON.stringify(row));
}

export async function audit(pool: Pool, memory: Memory): Promise<Audit[]> {
  const audits: Audit[] = [];
  for (const [name, query] of Object.entries(QUERIES)) {
    const { rows } = await pool.query<object>(query);
    audits.push({ name, wrong: rows.map((row) => JSON.stringify(row)) });
  }
  const stored = await pool.query<{ id: string; message: string | null }>(
    `select id, record->'request'->>'message' as message from ${T}quests`,
  );
  const ids = new Set(stored.rows.map(({ id }) => id));
  const charges = await pool.query<{ request_id: string; charged: string }>(
    `select request_id, sum(charged) as charged from ${T}ledger_charges group by 1`,
  );
  const charged = new Map(charges.rows.map((row) => [row.request_id, Number(row.charged)]));
  const byMessage = new Map<string, number>();
  for (const { message } of stored.rows) {
    if (message !== null) byMessage.set(message, (byMessage.get(message) ?? 0) + 1);
  }
  const jobs = await pool.query<object>(
    `select kind, key, attempt from ${T}jobs where run_at < extract(epoch from now()) * 1000 + 60000`,
  );
  return [
    { name: 'accepted quests missing', wrong: [...memory.quests.keys()].filter((id) => !ids.has(id)) },
    ...audits,
    {
      name: 'keys with two quests',
      wrong: [
        ...[...memory.keys].filter(([, quests]) => quests.size > 1).map(([key]) => key),
        // Messages are unique, and only requests with a key are repeated.
        ...[...byMessage].filter(([, count]) => count > 1).map(([message]) => message),
      ],
    },
    {
      name: 'completions reported another amount',
      wrong: [...memory.reported]
        .filter(([id, amount]) => (charged.get(id) ?? 0) !== amount)
        .map(([id, amount]) => `${id}: reported ${amount}, charged ${charged.get(id) ?? 0}`),
    },
    { name: 'jobs left', wrong: jobs.rows.map((row) => JSON.stringify(row)) },
    { name: 'answers with status 500 or 502', wrong: memory.faults },
  ];
}
