import { ChartNoAxesColumn, RotateCw } from 'lucide';
import { useLoad } from '../hooks.ts';
import { type Bar, Bars } from '../parts/bars.tsx';
import { Figure } from '../parts/figure.tsx';
import { credits, wholeDate } from '../parts/format.ts';
import { Icon } from '../parts/icon.tsx';
import { Table } from '../parts/table.tsx';
import { Badge, Empty, View, Waiting } from '../parts/view.tsx';
import type { Spending, Usage } from '../records.ts';
import { UsageReport } from './usage-report.tsx';

/** The balance of the account and its recent usage. */
export function Spent() {
  const usage = useLoad('usage', (get) => get<Usage>('/api/v1/usage'));
  const { data } = usage;
  const spent = data?.recent.filter(({ status }) => status === 'settled') ?? [];
  // Where nothing is charged, token counts are shown instead.
  const isPaid = spent.some((one) => one.credits > 0);
  const [unit, getAmount] = isPaid ? (['credits', getCredits] as const) : (['tokens', tokenize] as const);
  return (
    <View
      title="Usage"
      lead="What you can spend, and what was spent."
      actions={
        <button type="button" onClick={usage.reload}>
          <Icon of={RotateCw} size={16} /> Refresh
        </button>
      }
    >
      <Waiting of={usage} />
      {data !== undefined && (
        <>
          <dl class="figures">
            <Figure name="Available credits" value={data.credits.balance} />
            <Figure name="Reserved by running work" value={data.credits.reserved} />
            <Figure name="Spent in the last 24 hours" value={data.spend.last_24h} />
            <Figure name="Spent in the last 30 days" value={data.spend.last_30d} />
          </dl>
          {!isPaid && spent.length > 0 && (
            <p class="quiet">Nothing was charged: credits are not enforced, or these calls were free.</p>
          )}
          <div class="charts">
            <Bars title={`Usage by day, in ${unit}`} bars={sums(spent, getDay, getAmount)} />
            <Bars
              title={`Usage by model, in ${unit}`}
              bars={sums(spent, getModel, getAmount).sort(byValue)}
            />
          </div>
        </>
      )}
      <h2>Reports</h2>
      <UsageReport path="/api/v1/usage/report" />
      <h2>Recent calls</h2>
      <Table
        caption="Recent calls"
        rows={data?.recent}
        getKey={({ id }) => id}
        empty={<Empty icon={ChartNoAxesColumn} title="No usage yet." hint="Calls to models appear here." />}
        columns={[
          { head: 'When', cell: ({ created_at }) => wholeDate(created_at) },
          { head: 'Operation', cell: ({ operation }) => operation },
          { head: 'Model', cell: ({ model }) => model ?? '–' },
          { head: 'State', cell: ({ status }) => <Badge state={status} /> },
          { head: 'Tokens', isNumber: true, cell: (one) => credits(tokenize(one)) },
          { head: 'Credits', isNumber: true, cell: (one) => credits(one.credits) },
        ]}
      />
    </View>
  );
}

const getCredits = (one: Spending): number => one.credits;
const tokenize = ({ usage }: Spending): number =>
  Object.values(usage ?? {}).reduce((sum, count) => sum + count, 0);
const byValue = (a: Bar, b: Bar): number => b.value - a.value;
const getModel = ({ model, operation }: Spending): string => model ?? operation;
const getDay = ({ created_at }: Spending): string =>
  new Date(created_at).toLocaleDateString(undefined, { month: 'short', day: 'numeric' });

function sums(
  entries: readonly Spending[],
  by: (one: Spending) => string,
  getAmount: (one: Spending) => number,
): Bar[] {
  const totals = new Map<string, number>();
  for (const one of entries) totals.set(by(one), (totals.get(by(one)) ?? 0) + getAmount(one));
  return [...totals].map(([label, value]) => ({ label, value }));
}
