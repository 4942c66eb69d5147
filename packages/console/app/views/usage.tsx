import { call } from '../api.ts';
import { useLoad } from '../hooks.ts';
import { type Bar, Bars } from '../parts/bars.tsx';
import { credits, Table, View, Waiting, when } from '../parts/basics.tsx';
import type { Spending, Usage } from '../records.ts';

/** What the account has, and where it went. */
export function Spent() {
  const usage = useLoad('usage', (signal) => call<Usage>('GET', '/api/v1/usage', undefined, signal));
  const { data } = usage;
  const spent = data?.recent.filter(({ status }) => status === 'settled') ?? [];
  // Where nothing is charged, what was used is still worth a look.
  const isPaid = spent.some((one) => one.credits > 0);
  const [unit, amountOf] = isPaid ? (['credits', creditsOf] as const) : (['tokens', tokensOf] as const);
  return (
    <View
      title="Usage"
      actions={
        <button type="button" onClick={usage.reload}>
          Refresh
        </button>
      }
    >
      <Waiting of={usage} />
      {data !== undefined && (
        <>
          <dl class="figures">
            <Figure name="Credits to spend" value={data.credits.balance} />
            <Figure name="Reserved by running work" value={data.credits.reserved} />
            <Figure name="Spent in 24 hours" value={data.spend.last_24h} />
            <Figure name="Spent in 30 days" value={data.spend.last_30d} />
          </dl>
          {!isPaid && spent.length > 0 && (
            <p class="quiet">
              Nothing was charged: credits are not enforced here, or these calls cost nothing.
            </p>
          )}
          <div class="charts">
            <Bars title={`Recent days, in ${unit}`} bars={sums(spent, dayOf, amountOf)} />
            <Bars title={`Recent models, in ${unit}`} bars={sums(spent, modelOf, amountOf).sort(byValue)} />
          </div>
        </>
      )}
      <Table
        caption="Most recent"
        heads={['When', 'What', 'Model', 'State', 'Tokens', 'Credits']}
        numbers={['Tokens', 'Credits']}
        rows={data?.recent}
        empty="Nothing has been used yet."
        row={(one) => (
          <tr key={one.id}>
            <td>{when(one.created_at)}</td>
            <td>{one.operation}</td>
            <td>{one.model ?? '–'}</td>
            <td>{one.status}</td>
            <td class="number">{credits(tokensOf(one))}</td>
            <td class="number">{credits(one.credits)}</td>
          </tr>
        )}
      />
    </View>
  );
}

function Figure({ name, value }: { name: string; value: number }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{credits(value)}</dd>
    </div>
  );
}

const creditsOf = (one: Spending): number => one.credits;
const tokensOf = ({ usage }: Spending): number =>
  Object.values(usage ?? {}).reduce((sum, count) => sum + count, 0);
const byValue = (a: Bar, b: Bar): number => b.value - a.value;
const modelOf = ({ model, operation }: Spending): string => model ?? operation;
const dayOf = ({ created_at }: Spending): string =>
  new Date(created_at).toLocaleDateString(undefined, { month: 'short', day: 'numeric' });

function sums(
  entries: readonly Spending[],
  by: (one: Spending) => string,
  amountOf: (one: Spending) => number,
): Bar[] {
  const totals = new Map<string, number>();
  for (const one of entries) totals.set(by(one), (totals.get(by(one)) ?? 0) + amountOf(one));
  return [...totals].map(([label, value]) => ({ label, value }));
}
