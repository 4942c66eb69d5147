import { describe, expect, it } from 'vitest';
import { readChart } from '../app/drawings/chart-data.ts';
import { readFlowchart } from '../app/drawings/flowchart-source.ts';
import { scaleOf } from '../app/drawings/scale.ts';
import { readSequence } from '../app/drawings/sequence-source.ts';
import { linesOf } from '../app/drawings/words.ts';

describe('a flowchart', () => {
  const edgesOf = (source: string) =>
    readFlowchart(source)?.edges.map(({ from, to, label }) => `${from}>${to}${label && ` ${label}`}`);

  it('is read with its shapes, its chains and the words on its edges', () => {
    const chart = readFlowchart(
      'flowchart LR\n  A([Rain]) --> B{Soaks in?}\n  B -- yes --> C["Spring (cold)"]\n  B -->|no| D\n  C & D ==> E((Sea)); E -.-> A',
    );
    expect(chart?.direction).toBe('LR');
    expect(chart?.nodes.map(({ id, label, shape }) => [id, linesOf(label).join(' '), shape])).toEqual([
      ['A', 'Rain', 'round'],
      ['B', 'Soaks in?', 'diamond'],
      ['C', 'Spring (cold)', 'box'],
      ['D', 'D', 'box'],
      ['E', 'Sea', 'circle'],
    ]);
    expect(chart?.edges.map(({ from, to, label }) => [from, to, label])).toEqual([
      ['A', 'B', ''],
      ['B', 'C', 'yes'],
      ['B', 'D', 'no'],
      ['C', 'E', ''],
      ['D', 'E', ''],
      ['E', 'A', ''],
    ]);
    expect(chart?.edges.slice(3).map(({ isThick, isDotted }) => [isThick, isDotted])).toEqual([
      [true, false],
      [true, false],
      [false, true],
    ]);
  });

  it('may have frames and colours, which are left out', () => {
    const source =
      'graph TD\n%% a note\nsubgraph one\n a1-->a2\nend\nclassDef x fill:#f00\na2:::x --- b-node';
    expect(edgesOf(source)).toEqual(['a1>a2', 'a2>b-node']);
  });

  it('of another kind, or one that is broken, is none', () => {
    for (const source of [
      'pie\n"a": 1',
      'flowchart LR\nA[open --> B',
      'flowchart LR\n!!',
      'flowchart LR',
      '',
    ]) {
      expect([source, readFlowchart(source)]).toEqual([source, undefined]);
    }
  });
});

describe('a sequence diagram', () => {
  it('is read with who speaks, in which order', () => {
    const source =
      'sequenceDiagram\n  participant A as Ann\n  A->>B: Hello\n  loop often\n  B-->>A: Hi: there\n  end\n  Note over A,B: Friends';
    expect(readSequence(source)).toEqual({
      actors: [
        { id: 'A', name: 'Ann' },
        { id: 'B', name: 'B' },
      ],
      messages: [
        { from: 'A', to: 'B', text: 'Hello', isDotted: false, isNote: false },
        { from: 'B', to: 'A', text: 'Hi: there', isDotted: true, isNote: false },
        { from: 'A', to: 'B', text: 'Friends', isDotted: false, isNote: true },
      ],
    });
    expect(readSequence('sequenceDiagram\n what is this')).toBeUndefined();
  });
});

describe('a chart', () => {
  it('is read as far as it has numbers', () => {
    const payload = {
      kind: 'bar',
      x: 'm',
      series: ['a', 'b'],
      data: [
        { m: 'Jan', a: 1, b: '2.5' },
        { m: 3, a: 'x' },
      ],
    };
    expect(readChart(payload)).toEqual({
      kind: 'bar',
      title: 'a, b',
      x: 'm',
      labels: ['Jan', '3'],
      series: [
        { name: 'a', values: [1, undefined] },
        { name: 'b', values: [2.5, undefined] },
      ],
    });
    for (const other of [
      undefined,
      null,
      3,
      {},
      { ...payload, kind: 'map' },
      { ...payload, data: [{ m: 1 }] },
    ]) {
      expect(readChart(other)).toBeUndefined();
    }
  });

  it('has an axis of round numbers that holds every value', () => {
    const marks = (values: number[]) => scaleOf(values, { from: 100, to: 0, withZero: true }).marks;
    expect(marks([3530, 1012])).toEqual([0, 1000, 2000, 3000, 4000]);
    expect(marks([-2, 7])).toEqual([-2, 0, 2, 4, 6, 8]);
    expect(marks([0.3])).toEqual([0, 0.1, 0.2, 0.3]);
    expect(marks([0]).length).toBeGreaterThan(1);
    expect(scaleOf([50], { from: 100, to: 0, withZero: true }).at(50)).toBe(0);
  });
});
