import type { ComponentChildren } from 'preact';

export interface Column<T> {
  readonly head: string;
  readonly cell: (row: T) => ComponentChildren;
  readonly isNumber?: boolean;
  /** Buttons, at the end of a row. */
  readonly isActions?: boolean;
}

interface TableProps<T> {
  /** Its name, for screen readers; the heading says the same to others. */
  readonly caption: string;
  /** The first column names the row. */
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[] | undefined;
  readonly getKey: (row: T) => string;
  readonly empty: ComponentChildren;
}

/** A table; on a narrow screen each row is a card with its labels. Explicit roles: a changed `display` removes the native ones. */
export function Table<T>({ caption, columns, rows, getKey, empty }: TableProps<T>) {
  if (rows === undefined) return null;
  if (rows.length === 0) return <>{empty}</>;
  return (
    <div class="table">
      {/* biome-ignore lint/a11y/noRedundantRoles: see above. */}
      <table role="table" aria-label={caption}>
        {/* biome-ignore lint/a11y/noRedundantRoles: see above. */}
        <thead role="rowgroup">
          {/* biome-ignore lint/a11y/noRedundantRoles: see above. */}
          <tr role="row">
            {columns.map(({ head, isNumber, isActions }) => (
              // biome-ignore lint/a11y/noRedundantRoles: see above.
              <th key={head} role="columnheader" scope="col" class={isNumber ? 'number' : ''}>
                {isActions ? <span class="hidden">{head}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        {/* biome-ignore lint/a11y/noRedundantRoles: see above. */}
        <tbody role="rowgroup">
          {rows.map((row) => (
            // biome-ignore lint/a11y/noRedundantRoles: see above.
            <tr key={getKey(row)} role="row">
              {columns.map((column, at) => (
                <Cell key={column.head} column={column} row={row} isFirst={at === 0} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface CellProps<T> {
  readonly column: Column<T>;
  readonly row: T;
  readonly isFirst: boolean;
}

function Cell<T>({ column: { head, cell, isNumber, isActions }, row, isFirst }: CellProps<T>) {
  if (isFirst) {
    return (
      // biome-ignore lint/a11y/noRedundantRoles: a changed `display` removes the native one.
      <th role="rowheader" scope="row">
        {cell(row)}
      </th>
    );
  }
  return (
    <td
      // biome-ignore lint/a11y/noRedundantRoles: a changed `display` removes the native one.
      role="cell"
      data-head={isActions ? undefined : head}
      class={isActions ? 'row-actions' : isNumber ? 'number' : ''}
    >
      {cell(row)}
    </td>
  );
}
