import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { RunNow } from '../database.ts';

/** As many texts as a busy process uses over and over, and far fewer than would weigh anything. */
const MOST_KEPT = 500;

/** Runs statements and keeps them prepared: preparing anew costs more than running. The ones unused longest are dropped. */
export function createStatementCache(database: DatabaseSync): RunNow {
  const kept = new Map<string, StatementSync>();
  return ({ sql, parameters }) => {
    let statement = kept.get(sql);
    if (statement === undefined) {
      statement = database.prepare(sql);
      if (kept.size >= MOST_KEPT) {
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
