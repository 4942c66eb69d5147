import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { VARIABLES } from '../../packages/server/src/environment/variables.ts';
import { METRICS, type Metric } from '../../packages/server/src/observability/metrics-table.ts';
import { getRows } from './pages.ts';

describe('docs/operating/self-host.md', () => {
  it('lists the variables that the server reads, with their defaults and meanings', () => {
    const rows = getRows('docs/operating/self-host.md').filter(([name = '']) =>
      /^`[A-Z][A-Z0-9_]+`$/.test(name),
    );
    const plain = rows.map((cells) => cells.map((cell) => cell.replaceAll('`', '')));
    const expected = VARIABLES.map(({ name, fallback = '', meaning }) => [name, fallback, meaning]);
    expect(plain).toEqual(expected);
  });
});

describe('docs/operating/observing.md', () => {
  it('lists the metrics of the server with kinds, labels and meanings', () => {
    const rows = getRows('docs/operating/observing.md').filter(([name = '']) => /^`questline_/.test(name));
    const plain = rows.map((cells) => cells.map((cell) => cell.replaceAll('`', '')));
    const expected = Object.entries<Metric>(METRICS).map(([name, { kind, labels, meaning }]) => [
      name,
      kind,
      labels.join(', '),
      meaning.replaceAll('`', ''),
    ]);
    expect(plain).toEqual(expected);
  });

  it('alerts only on existing metrics and labels', () => {
    const page = readFileSync(new URL('../../docs/operating/observing.md', import.meta.url), 'utf8');
    const used = [...page.matchAll(/expr: (.*)$/gm)].flatMap(([, expression = '']) => [
      ...expression.matchAll(/(questline_\w+)(?:\{([^}]*)\})?/g),
    ]);
    expect(used.length).toBeGreaterThan(8);
    for (const [, name = '', filter = ''] of used) {
      const metric: Metric | undefined = Object.entries<Metric>(METRICS).find(([known, { kind }]) =>
        kind === 'histogram' ? name === `${known}_bucket` || name === `${known}_count` : name === known,
      )?.[1];
      expect(metric, name).toBeDefined();
      const labels = [...filter.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label]) => label);
      expect(metric?.labels, name).toEqual(expect.arrayContaining(labels));
    }
  });
});

describe('docs/guides/errors.md', () => {
  it('explains every error code and no other', () => {
    const explained = getRows('docs/guides/errors.md')
      .filter(([codes = '']) => /^`[a-z]+_?[a-z_]*`/.test(codes))
      .flatMap(([codes = '']) => codes.replaceAll('`', '').split(', '));
    expect(explained.sort()).toEqual(errorCodes().sort());
  });
});

/** The union exists only at compile time, so it is read from the source. */
function errorCodes(): string[] {
  const source = readFileSync(new URL('../../packages/core/src/shared/errors.ts', import.meta.url), 'utf8');
  const union = /export type ErrorCode =([^;]+);/.exec(source)?.[1] ?? '';
  return [...union.matchAll(/'(\w+)'/g)].map(([, code = '']) => code);
}
