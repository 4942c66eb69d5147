import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { describe, expect, it } from 'vitest';

const SRC = join(import.meta.dirname, '../src');

/** Files that may hold credit. All others use `paidCall` or a paid step of a run. */
const ALLOWED = new Set([
  // Defines the hold.
  'credits/reservations.ts',
  // The paid call.
  'models/paid-call.ts',
  // A paid step is stored in its quest before its hold.
  'runs/holds.ts',
  // The record of a generation and its hold have the same id.
  'features/media-jobs/handlers.ts',
  // Observes the port.
  'observability/ledger.ts',
  // Wraps the port and reports settlements.
  'events/charges.ts',
  // Wraps the port and records grants in the audit log.
  'operations/audit-grants.ts',
]);

const HOLDS = /\bledger\.hold\b|\breserve\(|\bholdCredit\(/;

function readSources(): Map<string, string> {
  const files = readdirSync(SRC, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.test|\.test-d)\.ts$/.test(entry.name))
    .map((entry) => relative(SRC, join(entry.parentPath, entry.name)).split(sep).join('/'));
  return new Map(files.map((file) => [file, readFileSync(join(SRC, file), 'utf8')]));
}

function findHolds(sources: ReadonlyMap<string, string>): string[] {
  return [...sources].filter(([, text]) => HOLDS.test(text)).map(([file]) => file);
}

describe('credit of a model call', () => {
  const sources = readSources();

  it('is held only by the paid call and by durable notes', () => {
    expect(findHolds(sources).filter((file) => !ALLOWED.has(file))).toEqual([]);
  });

  it('is held by every listed file, so that the list stays short', () => {
    expect([...ALLOWED].filter((file) => !findHolds(sources).includes(file))).toEqual([]);
  });

  it('reports a hold in another place', () => {
    const planted = new Map([
      ...sources,
      ['features/chat/planted.ts', 'await services.ledger.hold(request);'],
    ]);
    expect(findHolds(planted)).toContain('features/chat/planted.ts');
  });
});
