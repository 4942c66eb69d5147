import { useMemo } from 'preact/hooks';
import type { ToolPayload } from '../records.ts';
import { Chart } from './chart.tsx';
import { readChart } from './chart-data.ts';
import { Diagram } from './diagram.tsx';

/** The output of a tool: drawn where this page supports the type, else shown as text. */
export function Payload({ payload: { type, payload } }: { payload: ToolPayload }) {
  const drawn = useMemo(() => draw(type, payload), [type, JSON.stringify(payload)]);
  return (
    drawn ?? (
      <details class="payload">
        <summary>{type}</summary>
        <pre>{typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2)}</pre>
      </details>
    )
  );
}

function draw(type: string, payload: unknown) {
  if (type === 'chart') {
    const chart = readChart(payload);
    return chart && <Chart chart={chart} />;
  }
  if (type !== 'mermaid') return undefined;
  const { source, title } = (payload ?? {}) as { source?: unknown; title?: unknown };
  if (typeof source !== 'string') return undefined;
  return <Diagram source={source} title={typeof title === 'string' ? title : undefined} />;
}
