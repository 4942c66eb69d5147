import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { RunNow } from '../database.ts';

/** Enough for the repeated statements of a busy process, at a negligible size. */
const MAX_KEPT = 500;

/** Runs statements and caches them prepared (LRU): preparing costs more than running. */
export function createStatementCache(database: DatabaseSync): RunNow {
  const kept = new Map<string, StatementSync>();
  return ({ sql, parameters }) => {
    let statement = kept.get(sql);
    if (statement === undefined) {
      statement = database.prepare(sql);
      if (kept.size >= MAX_KEPT) {
        for (const oldest of kept.keys()) {
          kept.delete(oldest);
          break;
        }
      }
    } else kept.delete(sql);
    kept.set(sql, statement);
    return statement.all(...parameters.map(toInput));
  };
}

function toInput(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (Array.isArray(value)) return JSON.stringify(value);
  return value as SQLInputValue;
}
