import { applyRetention, type RetentionResult } from '@questline/core/internal';
import { HELP } from './arguments.ts';
import type { Command } from './command.ts';
import { columns, JSON_OUTPUT, show } from './output.ts';
import { DEMO, WORKSPACE_NOTES, withWorkspace } from './with-workspace.ts';

const DRY_RUN = { name: 'dry-run', meaning: 'only count what would be deleted' };

export const retention: Command = {
  name: 'retention',
  summary: 'Delete now what the retention settings do not keep. A running server does the same in steps.',
  options: [DRY_RUN, JSON_OUTPUT, DEMO, HELP],
  notes: `QUESTLINE_RETENTION and QUESTLINE_KEEP_NEWEST select the records, QUESTLINE_CHARGE_ARCHIVE_DAYS the charges, which are archived; old audit entries are deleted by the server alone.\n${WORKSPACE_NOTES}`,
  async run(given, surroundings) {
    const isDryRun = given.has(DRY_RUN.name);
    await withWorkspace(given, surroundings, async (services) => {
      const results = await applyRetention(services, { isDryRun });
      const kinds = results.map(({ kind, days = null, newest = null, records }) => ({
        kind,
        days,
        newest,
        records,
      }));
      show(given, surroundings, { dryRun: isDryRun, kinds }, () => toTable(results, isDryRun));
    });
  },
};

function toTable(results: readonly RetentionResult[], isDryRun: boolean): string {
  return columns(
    ['KIND', 'DAYS', 'NEWEST', isDryRun ? 'WOULD DELETE' : 'DELETED'],
    results.map(({ kind, days, newest, records }) => [
      kind,
      String(days ?? '-'),
      String(newest ?? '-'),
      String(records),
    ]),
  );
}
