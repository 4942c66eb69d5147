import * as z from 'zod';
import { answered, defineTool, type Tool } from '../../../tools/tool.ts';

/** Maximum payload size: payloads are part of every poll. */
const MAX_SOURCE = 20_000;
const MAX_POINTS = 1000;

const DIAGRAM_INPUT = z.object({
  title: z.string().max(200).optional(),
  source: z.string().min(1).max(MAX_SOURCE).meta({ description: 'Mermaid source, without a code fence.' }),
});

const CHART_INPUT = z.object({
  title: z.string().max(200).optional(),
  kind: z.enum(['bar', 'line', 'area', 'pie', 'scatter']),
  x: z.string().min(1).max(100).meta({ description: 'The field with the label of each point.' }),
  series: z
    .array(z.string().min(1).max(100))
    .min(1)
    .max(20)
    .meta({ description: 'The fields with the values of each point.' }),
  data: z
    .array(z.record(z.string().max(100), z.union([z.string().max(500), z.number()])))
    .min(1)
    .max(MAX_POINTS),
});

/** Tools whose result goes to the client as a payload; the model receives only a confirmation. */
export function drawingTools(): Tool[] {
  return [
    defineTool({
      id: 'create_diagram',
      description:
        'Shows the user a diagram written in Mermaid: flowchart, sequence, class, state, gantt, mindmap.',
      input: DIAGRAM_INPUT,
      offered: 'default',
      fits: /\b(?:diagram|flow ?chart|sequence|mind ?map|gantt|mermaid)\b/i,
      run: ({ title, source }) =>
        answered('The diagram is shown to the user.', {
          type: 'mermaid',
          payload: { source, ...(title !== undefined && { title }) },
        }),
    }),
    defineTool({
      id: 'create_chart',
      description: 'Shows the user a chart of numbers: bar, line, area, pie or scatter.',
      input: CHART_INPUT,
      offered: 'default',
      fits: /\b(?:chart|plot|graph|histogram|visuali[sz]e)\b/i,
      run: ({ title, kind, x, series, data }) =>
        answered(`The chart of ${data.length} points is shown to the user.`, {
          type: 'chart',
          payload: { kind, x, series, data, ...(title !== undefined && { title }) },
        }),
    }),
  ];
}
