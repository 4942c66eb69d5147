import { ChartNoAxesColumn } from 'lucide';
import { useState } from 'preact/hooks';
import { Chart } from '../drawings/chart.tsx';
import { useLoad } from '../hooks.ts';
import { Field } from '../parts/field.tsx';
import { credits } from '../parts/format.ts';
import { Table } from '../parts/table.tsx';
import { Empty, View, Waiting } from '../parts/view.tsx';

const DAY_MS = 86_400_000;
const PERIODS = [7, 30, 90, 365] as const;
/** Bars of a chart by anything but days. */
const MAX_BARS = 31;

const NAMES = {
  day: 'Day',
  model: 'Model',
  operation: 'Operation',
  key: 'API key',
  user: 'User',
  organization: 'Organization',
} as const;

type Dimension = keyof typeof NAMES;

const OWN: readonly Dimension[] = ['day', 'model', 'operation', 'key'];
const ALL: readonly Dimension[] = [...OWN, 'user', 'organization'];

interface Sums {
  readonly requests: number;
  readonly credits: number;
  readonly usage: Readonly<Record<string, number>>;
}

interface Report {
  readonly groups: readonly (Sums & { readonly group: Readonly<Record<string, string | null>> })[];
  readonly total: Sums;
}

/** The usage of all users, for administrators. */
export function Reports() {
  return (
    <View title="Reports" lead="What all users and organizations used and paid.">
      <UsageReport path="/api/usage-report" dimensions={ALL} />
    </View>
  );
}

/** Usage in a period, as a chart and a table. */
export function UsageReport({ path, dimensions = OWN }: { path: string; dimensions?: readonly Dimension[] }) {
  const [days, setDays] = useState<number>(30);
  const [by, setBy] = useState<Dimension>('day');
  const report = useLoad(`${path} ${days} ${by}`, (get) =>
    get<Report>(`${path}?from=${getStart(days)}&group_by=${by}`),
  );
  // A ledger of the host may have no reports.
  if (report.status === 404) return null;
  const groups = report.data?.groups ?? [];
  const shown = by === 'day' ? fillDays(groups, days) : [...groups].sort(byCredits).slice(0, MAX_BARS);
  const isPaid = groups.some((one) => one.credits > 0);
  const unit = isPaid ? 'credits' : 'tokens';
  const title = `Usage by ${NAMES[by].toLowerCase()}, in ${unit}`;
  return (
    <>
      <div class="row">
        <Field label="Period">
          <select value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>
            {PERIODS.map((count) => (
              <option key={count} value={count}>
                Last {count} days
              </option>
            ))}
          </select>
        </Field>
        <Field label="Group by">
          <select value={by} onChange={(event) => setBy(event.currentTarget.value as Dimension)}>
            {dimensions.map((name) => (
              <option key={name} value={name}>
                {NAMES[name]}
              </option>
            ))}
          </select>
        </Field>
      </div>
      <Waiting of={report} />
      {groups.length > 0 && (
        <Chart
          chart={{
            kind: 'bar',
            title,
            x: NAMES[by],
            // Days without their year, so that more of them fit.
            labels: shown.map(({ group }) => (by === 'day' ? group.day?.slice(5) : group[by]) ?? '–'),
            series: [{ name: unit, values: shown.map((one) => (isPaid ? one.credits : getTokens(one))) }],
          }}
        />
      )}
      <Table
        caption={`Usage by ${NAMES[by].toLowerCase()}`}
        rows={report.data?.groups}
        getKey={({ group }) => group[by] ?? ''}
        empty={<Empty icon={ChartNoAxesColumn} title="No usage in this period." />}
        columns={[
          { head: NAMES[by], cell: ({ group }) => group[by] ?? '–' },
          { head: 'Requests', isNumber: true, cell: ({ requests }) => requests.toLocaleString() },
          { head: 'Tokens', isNumber: true, cell: (one) => getTokens(one).toLocaleString() },
          { head: 'Credits', isNumber: true, cell: (one) => credits(one.credits) },
        ]}
      />
    </>
  );
}

/** Whole days: the first one is complete. */
function getStart(days: number): string {
  const now = Date.now();
  return new Date(now - (now % DAY_MS) - (days - 1) * DAY_MS).toISOString();
}

/** Days without usage are part of the chart. */
function fillDays(groups: Report['groups'], days: number): Report['groups'] {
  const byDay = new Map(groups.map((one) => [one.group.day, one]));
  const start = Date.parse(getStart(days));
  return Array.from({ length: days }, (_, at) => {
    const day = new Date(start + at * DAY_MS).toISOString().slice(0, 10);
    return byDay.get(day) ?? { group: { day }, requests: 0, credits: 0, usage: {} };
  });
}

function byCredits(a: Sums, b: Sums): number {
  return b.credits - a.credits || getTokens(b) - getTokens(a);
}

function getTokens({ usage }: Sums): number {
  return Object.entries(usage)
    .filter(([unit]) => unit.endsWith('_tokens'))
    .reduce((sum, [, count]) => sum + count, 0);
}
