import { setTimeout as sleep } from 'node:timers/promises';
import type fc from 'fast-check';
import { describe, it } from 'vitest';
import type { SuiteTime } from './time.ts';

export type Section = 'behaviour' | 'race' | 'abort' | 'random';

/** The environment of a case beside the implementation. */
export interface Subject {
  readonly time: SuiteTime;
  /** Closes what `create` opened. */
  readonly close?: () => Promise<void>;
}

/** Options of the random section. */
export interface RandomRuns {
  /** How many random sequences. Default 25. */
  readonly runs?: number;
  /** Repeats one run: the failure message contains the seed. */
  readonly seed?: number;
}

/** One requirement: a function that rejects if the implementation violates it. */
export interface Case<S extends Subject> {
  readonly name: string;
  readonly section: Section;
  /** Skipped in real time. */
  readonly needsExactTime?: boolean;
  /** The reason to skip this implementation; undefined: run. */
  excuse?(subject: S): string | undefined;
  run(subject: S, random: RandomRuns): Promise<void>;
}

export interface SuiteOptions<S extends Subject> extends RandomRuns {
  /** Names the implementation in the report. */
  readonly name: string;
  /** Called before every case: creates an empty implementation that shares nothing with the last one. */
  readonly create: () => Promise<S>;
  /** Skipped cases of this implementation: the reason by name. */
  readonly skip?: Readonly<Record<string, string>>;
  /** Timeout per case. Default 30 s. */
  readonly timeoutMs?: number;
}

/** Registers every case as a test of the running test file. */
export function registerSuite<S extends Subject>(
  port: string,
  cases: readonly Case<S>[],
  options: SuiteOptions<S>,
): void {
  const { name, create, skip = {}, timeoutMs = 30_000 } = options;
  assertSkips(cases, skip);
  describe(`${port}: ${name}`, () => {
    for (const section of new Set(cases.map((one) => one.section))) {
      describe(section, () => {
        for (const one of cases.filter((any) => any.section === section)) {
          const reason = skip[one.name];
          if (reason !== undefined) {
            it.skip(`${one.name} (skipped: ${reason})`);
            continue;
          }
          it(one.name, { timeout: timeoutMs }, async (context) => {
            const subject = await create();
            try {
              const excuse = getExcuse(one, subject);
              if (excuse !== undefined) context.skip(excuse);
              await one.run(subject, options);
            } finally {
              await subject.close?.();
            }
          });
        }
      });
    }
  });
}

export interface CaseOutcome {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly error?: unknown;
}

/**
 * Runs cases without a test runner, one after the other, and reports the result of each. This is how the suites
 * themselves are tested: a defect must turn a case red.
 * @param options.timeoutMs a case that takes longer has failed. Default 5 s.
 */
export async function runCases<S extends Subject>(
  cases: readonly Case<S>[],
  create: () => Promise<S>,
  options: RandomRuns & { readonly timeoutMs?: number } = {},
): Promise<CaseOutcome[]> {
  const outcomes: CaseOutcome[] = [];
  for (const one of cases) {
    const { name } = one;
    const subject = await create();
    if (getExcuse(one, subject) !== undefined) {
      outcomes.push({ name, outcome: 'skipped' });
      await subject.close?.();
      continue;
    }
    const alarm = new AbortController();
    const { timeoutMs = 5000 } = options;
    const tooLate = sleep(timeoutMs, undefined, { signal: alarm.signal }).then(() => {
      throw new Error(`the case took longer than ${timeoutMs} ms`);
    });
    try {
      await Promise.race([one.run(subject, options), tooLate]);
      outcomes.push({ name, outcome: 'passed' });
    } catch (error) {
      outcomes.push({ name, outcome: 'failed', error });
    } finally {
      alarm.abort();
      await tooLate.catch(() => undefined);
      await subject.close?.();
    }
  }
  return outcomes;
}

function getExcuse<S extends Subject>(one: Case<S>, subject: S): string | undefined {
  if (one.needsExactTime === true && !subject.time.isExact) return 'time really passes here';
  return one.excuse?.(subject);
}

/** Options of the random section for fast-check; a failure's message contains the seed. */
export function getRuns({ runs = 25, seed }: RandomRuns): fc.Parameters<unknown> {
  return { numRuns: runs, ...(seed !== undefined && { seed }), endOnFailure: false };
}

function assertSkips<S extends Subject>(
  cases: readonly Case<S>[],
  skip: Readonly<Record<string, string>>,
): void {
  for (const [name, reason] of Object.entries(skip)) {
    if (!cases.some((one) => one.name === name)) throw new Error(`there is no case "${name}" to skip`);
    if (reason.trim() === '') throw new Error(`the skip of "${name}" must name its reason`);
  }
}
