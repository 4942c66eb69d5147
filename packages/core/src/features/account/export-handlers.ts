import { decodeCursor, encodeCursor } from '../../contract/cursor.ts';
import { Reply } from '../../contract/reply.ts';
import { toCredits } from '../../credits/amounts.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { CreditLedger, ExportedEntry } from '../../ports/ledger.ts';
import { toCsvLine } from './csv.ts';
import {
  type ExportQuery,
  exportCredits,
  exportOrganizationCredits,
  exportWorkspaceCredits,
} from './export-contract.ts';
import { type ReportServices, requireAdministrator, requireOrganization } from './reports-handlers.ts';
import { toUnits, UNIT_NAMES } from './units.ts';

const PAGE = 500;

type ReadEntries = NonNullable<CreditLedger['exportEntries']>;

/** Without the optional call of the ledger, exports are not part of the API. */
export function exportRoutes(services: ReportServices): Route[] {
  const { ledger } = services;
  const read = ledger.exportEntries?.bind(ledger);
  if (read === undefined) return [];
  return [
    defineRoute(exportCredits, services, async ({ query }, { caller: { userId } }) =>
      answer(read, `user:${userId}`, query),
    ),
    defineRoute(exportOrganizationCredits, services, async ({ params: { id }, query }, { caller }) => {
      await requireOrganization(services, caller, id);
      return answer(read, `organization:${id}`, query);
    }),
    defineRoute(exportWorkspaceCredits, services, async ({ query }, { caller }) => {
      requireAdministrator(caller);
      return answer(read, undefined, query);
    }),
  ];
}

function answer(read: ReadEntries, account: string | undefined, { format, cursor }: ExportQuery): Reply {
  const owner = account ?? 'everyone';
  const after = decodeCursor('credits', owner, cursor)?.value ?? 0;
  const type = format === 'csv' ? 'text/csv' : 'application/x-ndjson';
  const headers = {
    'Content-Type': `${type}; charset=utf-8`,
    'Content-Disposition': `attachment; filename="credits.${format}"`,
  };
  return new Reply(200, headers, writeLines(read, account, owner, after, format));
}

/** One page at a time, so that the memory does not depend on the size of the ledger. */
async function* writeLines(
  read: ReadEntries,
  account: string | undefined,
  owner: string,
  start: number,
  format: ExportQuery['format'],
): AsyncGenerator<string> {
  if (format === 'csv') yield toCsvLine([...COLUMNS, ...UNIT_NAMES]);
  for (let after = start; ; ) {
    const page = await read({ after, limit: PAGE, ...(account !== undefined && { account }) });
    const lines = page.map((entry) => {
      const cursor = encodeCursor('credits', owner, { value: entry.position, id: entry.id });
      return format === 'csv' ? toCsv(entry, cursor) : `${JSON.stringify(toLine(entry, cursor))}\n`;
    });
    if (lines.length > 0) yield lines.join('');
    if (page.length < PAGE) return;
    after = page.at(-1)?.position ?? after;
  }
}

const COLUMNS = [
  'cursor',
  'id',
  'created_at',
  'account',
  'kind',
  'credits',
  'micro_credits',
  'reason',
  'key',
  'operation',
  'model',
  'key_id',
  'user_id',
  'request_id',
] as const;

type Line = Readonly<Record<(typeof COLUMNS)[number], string | number | null>>;

function toLine(entry: ExportedEntry, cursor: string) {
  return { ...toColumns(entry, cursor), usage: entry.usage === undefined ? null : toUnits(entry.usage) };
}

function toCsv(entry: ExportedEntry, cursor: string): string {
  const columns = toColumns(entry, cursor);
  const units = toUnits(entry.usage ?? {});
  return toCsvLine([
    ...COLUMNS.map((name) => columns[name]),
    ...UNIT_NAMES.map((name) => units[name] ?? null),
  ]);
}

function toColumns(
  { id, account, kind, amount, reason, key, createdAt, details }: ExportedEntry,
  cursor: string,
): Line {
  return {
    cursor,
    id,
    created_at: new Date(createdAt).toISOString(),
    account,
    kind,
    credits: toCredits(amount),
    micro_credits: amount,
    reason,
    key,
    operation: details?.operation ?? null,
    model: details?.model ?? null,
    key_id: details?.keyId ?? null,
    user_id: details?.userId ?? null,
    request_id: details?.requestId ?? null,
  };
}
