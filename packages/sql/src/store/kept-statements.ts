import type { SqlDialect } from '../database.ts';
import type { SqlStatement } from '../statement.ts';
import { compile, type Fragment } from './fragments.ts';

/** Maximum number of kept texts of one table; further ones are compiled at each call. */
const MAX_KEPT = 200;

/** Builds statements whose text depends only on a shape: the text is compiled once, which costs as much as sending it. */
export interface KeptStatements {
  /**
   * @param shape equal for statements with the same text.
   * @param parameters in the order of the text.
   */
  get(shape: string, parameters: readonly unknown[], toQuery: () => Fragment): SqlStatement;
}

/** @param toNamed names the statements that are prepared. */
export function createKeptStatements(
  dialect: SqlDialect,
  toNamed: (statement: SqlStatement) => SqlStatement = (statement) => statement,
): KeptStatements {
  const kept = new Map<string, Omit<SqlStatement, 'parameters'>>();
  return {
    get(shape, parameters, toQuery) {
      const known = kept.get(shape);
      if (known !== undefined) return { ...known, parameters };
      const compiled = compile(toQuery(), dialect);
      assertSame(compiled.parameters, parameters, shape);
      const { sql, name } = toNamed(compiled);
      const text = { sql, ...(name !== undefined && { name }) };
      if (kept.size < MAX_KEPT) kept.set(shape, text);
      return { ...text, parameters };
    },
  };
}

/** Parameters in another order would read other records. */
function assertSame(compiled: readonly unknown[], parameters: readonly unknown[], shape: string): void {
  if (JSON.stringify(compiled) === JSON.stringify(parameters)) return;
  throw new Error(`the parameters of '${shape}' are not in the order of its text`);
}
