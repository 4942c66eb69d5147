import { setImmediate } from 'node:timers/promises';
import { type Case, runCases, type Subject } from '@questline/testing';
import { describe, expect, it } from 'vitest';

/** An implementation with one defect, and the cases that must detect it. */
export interface Defect<S extends Subject> {
  readonly name: string;
  readonly create: () => Promise<S>;
  readonly red: readonly string[];
}

/** Registers one test per defect: the expected cases must fail, and some must pass. */
export function defectTests<S extends Subject>(
  port: string,
  cases: readonly Case<S>[],
  defects: readonly Defect<S>[],
): void {
  describe(`a ${port} that`, () => {
    for (const { name, create, red } of defects) {
      it(`${name} fails its suite`, async () => {
        for (const known of red) expect(cases.map((one) => one.name)).toContain(known);
        const outcomes = await runCases(cases, create, { timeoutMs: 1000, runs: 5 });
        const failed = outcomes.filter(({ outcome }) => outcome === 'failed').map((outcome) => outcome.name);
        expect(failed).toEqual(expect.arrayContaining([...red]));
        expect(failed.length).toBeLessThan(cases.length);
      });
    }
  });
}

/** Lets other pending calls run in between. */
export function gap(): Promise<void> {
  return setImmediate();
}
