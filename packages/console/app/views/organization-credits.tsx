import { ExportButton } from '../parts/export-button.tsx';
import { Figure } from '../parts/figure.tsx';
import { UsageReport } from './usage-report.tsx';

/** What the usage of an organization is grouped by. */
const BY = ['day', 'model', 'operation', 'key', 'user'] as const;

export interface Credits {
  readonly balance: number;
  readonly reserved: number;
}

/** The credits of an organization and what it paid, for those who administer it. */
export function OrganizationCredits({ id, credits }: { id: string; credits: Credits }) {
  const path = `/api/organizations/${id}`;
  return (
    <>
      <h2>Credits</h2>
      <dl class="figures">
        <Figure name="Available credits" value={credits.balance} />
        <Figure name="Reserved by running work" value={credits.reserved} />
      </dl>
      <h2>What it paid</h2>
      <UsageReport path={`${path}/usage-report`} dimensions={BY} />
      <ExportButton
        label="Export grants and charges"
        path={`${path}/credits/export?format=csv`}
        name={`credits-${id}.csv`}
      />
    </>
  );
}
