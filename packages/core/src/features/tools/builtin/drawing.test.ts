import { expect, it } from 'vitest';
import { drawingTools } from './drawing.ts';

const run = async (id: string, input: object) =>
  drawingTools()
    .find(({ offer }) => offer.id === id)
    ?.run(input, {} as never);

const CHART = { kind: 'bar', x: 'month', series: ['rain'], data: [{ month: 'May', rain: 3 }] };

it.each([
  ['create_diagram', { source: 'graph TD' }, 'mermaid', 'The diagram is shown to the user.'],
  ['create_chart', CHART, 'chart', 'The chart of 1 points is shown to the user.'],
])('%s shows its input to the client, with a title if there is one', async (id, input, type, content) => {
  for (const payload of [input, { ...input, title: 'Rain' }])
    expect(await run(id, payload)).toEqual({ content, isError: false, payload: { type, payload } });
});

it.each([
  ['create_diagram', { source: 'x'.repeat(20_001) }, { source: 'x'.repeat(20_000) }],
  ['create_diagram', { source: '' }, { source: 'x' }],
  ['create_chart', { ...CHART, kind: 'moon' }, CHART],
  ['create_chart', { ...CHART, series: [] }, CHART],
  [
    'create_chart',
    { ...CHART, data: Array(1001).fill({ x: 1 }) },
    { ...CHART, data: Array(1000).fill({ x: 1 }) },
  ],
])('%s checks the size of its input', async (id, refused, accepted) => {
  expect((await run(id, refused))?.isError).toBe(true);
  expect((await run(id, accepted))?.isError).toBe(false);
});
