import type { SqlDatabase } from '../database.ts';
import type { OwnedRows } from './transfer-rows.ts';

/** The jobs of an owner. */
export const OWNED_JOBS: OwnedRows = {
  table: 'jobs',
  columns: {
    ...{ id: 'text', key: 'text', kind: 'text', payload: 'json', owner: 'text' },
    ...{ run_at: 'integer', lease_until: 'integer', due_at: 'integer' },
    ...{ attempt: 'integer', fence: 'integer', ready: 'integer' },
  },
  key: ['id'],
  condition: () => 'owner = @scope',
};

/** The rate windows of an owner. */
export const OWNED_WINDOWS: OwnedRows = {
  table: 'rateWindows',
  columns: { key: 'text', windows: 'json', allowed: 'boolean', ends_at: 'integer' },
  key: ['key'],
  condition: () =>
    `(${['user', 'paid', 'identity']
      .flatMap((kind) => [
        `key = '${kind}:' || cast(@scope as text)`,
        `substr(key, 1, length(cast(@scope as text)) + ${kind.length + 2}) = '${kind}:' || cast(@scope as text) || ':'`,
      ])
      .join(' or ')})`,
};

/** The events of running work. The scope is a list of quests. */
export const QUEST_EVENTS: OwnedRows = {
  table: 'eventBatches',
  columns: {
    ...{ stream: 'text', events: 'text' },
    ...{ first: 'integer', last: 'integer', attempt: 'integer', expires_at: 'integer' },
  },
  key: ['stream', 'first'],
  condition: (dialect) =>
    dialect === 'sqlite'
      ? 'stream in (select value from json_each(@scope))'
      : 'stream in (select jsonb_array_elements_text(cast(@scope as jsonb)))',
};

const RELEASED = [
  ...[['capId', 'cap_id'] as const, ['operation', 'operation'] as const, ['model', 'model'] as const],
  ...[['keyId', 'key_id'] as const, ['userId', 'user_id'] as const, ['requestId', 'request_id'] as const],
  ['createdAt', 'created_at'] as const,
];

/** Keys are short. */
const KEY_BATCH = 20_000;

/** The keys of all charges of an account, as an archive keeps them: each charges once, in every database. */
export const CHARGE_KEYS: OwnedRows = {
  table: 'ledgerArchivedKeys',
  columns: {
    ...{ key: 'text', kind: 'text', id: 'text', account: 'text', released: 'json' },
    ...{ reserved: 'integer', expires_at: 'integer', charged: 'integer' },
  },
  key: ['kind', 'key'],
  batch: KEY_BATCH,
  condition: () => 'account = @scope',
  from({ dialect, names }: SqlDatabase) {
    const object = dialect === 'sqlite' ? 'json_object' : 'jsonb_build_object';
    const fields = RELEASED.map(([name, column]) => `'${name}', ${column}`).join(', ');
    return `(
      select key, kind, case when kind = 'hold' then id end as id, account, reserved, expires_at, charged,
        case when settled_at is null then ${object}(${fields}) end as released
      from ${names.table('ledgerCharges')}
      union all
      select key, kind, id, account, reserved, expires_at, charged, released
      from ${names.table('ledgerArchivedKeys')}
    ) known`;
  },
};

/** The further caps of holds that can still be settled: released ones, and expired ones. */
export const HOLD_CAPS: OwnedRows = {
  table: 'ledgerHoldCaps',
  columns: { hold_id: 'text', cap_id: 'text', unit: 'text', amount: 'integer' },
  key: ['hold_id', 'cap_id'],
  condition: () => 'account = @scope',
  from: ({ names }: SqlDatabase) => `(
      select kept.*, charge.account from ${names.table('ledgerHoldCaps')} kept join (
        select id, account from ${names.table('ledgerCharges')} where settled_at is null
        union all
        select id, account from ${names.table('ledgerArchivedKeys')} where released is not null
      ) charge on charge.id = kept.hold_id
    ) known`,
};

/** The keys of all grants of an account: each grants once, in every database. */
export const GRANT_KEYS: OwnedRows = {
  table: 'ledgerMoves',
  columns: { account: 'text', key: 'text' },
  key: ['key'],
  batch: KEY_BATCH,
  condition: () => 'account = @scope',
  from: ({ names }: SqlDatabase) => `(
      select account, key from ${names.table('ledgerEntries')} where kind = 'grant'
      union
      select account, key from ${names.table('ledgerMoves')} where amount is null
    ) known`,
};
