import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ToolPayload } from '../records.ts';
import { Chart } from './chart.tsx';
import { readChart } from './chart-data.ts';
import { FlowchartDrawing } from './flowchart.tsx';
import { readFlowchart } from './flowchart-source.ts';
import { SequenceDrawing } from './sequence.tsx';
import { readSequence } from './sequence-source.ts';

/** What a tool has made to be shown: drawn where this page knows how, else as it came. */
export function Payload({ payload: { type, payload } }: { payload: ToolPayload }) {
  const drawn = useMemo(() => draw(type, payload), [type, JSON.stringify(payload)]);
  return (
    drawn ?? (
      <details>
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
  return type === 'mermaid' ? diagramOf(payload) : undefined;
}

function diagramOf(payload: unknown) {
  const { source, title } = (payload ?? {}) as { source?: unknown; title?: unknown };
  if (typeof source !== 'string') return undefined;
  const name = typeof title === 'string' ? title : 'Diagram';
  const [chart, sequence] = [readFlowchart(source), readSequence(source)];
  return (
    <figure class="drawing">
      <figcaption>{name}</figcaption>
      {chart !== undefined && (
        <Wide name={name}>
          <FlowchartDrawing chart={chart} title={name} />
        </Wide>
      )}
      {sequence !== undefined && (
        <Wide name={name}>
          <SequenceDrawing sequence={sequence} title={name} />
        </Wide>
      )}
      {chart === undefined && sequence === undefined ? (
        <pre>{source}</pre>
      ) : (
        <details>
          <summary>Source</summary>
          <pre>{source}</pre>
        </details>
      )}
    </figure>
  );
}

function Wide({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus.
    <section class="scroll" aria-label={name} tabIndex={0}>
      {children}
    </section>
  );
}
