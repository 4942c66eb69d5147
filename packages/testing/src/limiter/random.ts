import { createMemoryLimiter } from '@questline/core/memory';
import type { RateDecision, RateWindow, WindowState } from '@questline/core/ports';
import fc from 'fast-check';
import { expect } from 'vitest';
import { getRuns } from '../suite.ts';
import { getWindow, type LimiterCase, type LimiterSubject } from './subject.ts';

interface Step {
  readonly do: 'take' | 'peek' | 'advance';
  readonly key: number;
  readonly minute: number;
  readonly day: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom('take' as const, 'take' as const, 'peek' as const, 'advance' as const),
  key: fc.nat({ max: 1 }),
  minute: fc.integer({ min: 1, max: 4 }),
  day: fc.integer({ min: 1, max: 8 }),
});

export const randomCases: readonly LimiterCase[] = [
  {
    name: 'behaves like the reference for any sequence of calls',
    section: 'random',
    async run(subject, random) {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
          run += 1;
          await compare(subject, steps, run);
        }),
        getRuns(random),
      );
    },
  },
];

async function compare(subject: LimiterSubject, steps: readonly Step[], run: number): Promise<void> {
  const { limiter, time } = subject;
  const reference = createMemoryLimiter();
  // Instants are compared only with a fake clock.
  const comparable = ({ name, limit, remaining, resetAt }: WindowState) =>
    time.isExact ? { name, limit, remaining, resetAt } : { name, limit, remaining };
  const outline = (decision: RateDecision) => ({
    allowed: decision.allowed,
    refusedBy: decision.refusedBy?.name,
    windows: decision.windows.map(comparable),
  });

  for (const { do: what, key, minute, day } of steps) {
    const name = `run ${run} key ${key}`;
    const windows: RateWindow[] = [
      getWindow(subject, 'minute', minute, time.isExact ? 1 : 40),
      getWindow(subject, 'day', day),
    ];
    const now = time.now();
    if (what === 'take') {
      expect(outline(await limiter.take(name, windows, now))).toEqual(
        outline(await reference.take(name, windows, now)),
      );
    } else if (what === 'peek') {
      expect((await limiter.peek(name, windows, now)).map(comparable)).toEqual(
        (await reference.peek(name, windows, now)).map(comparable),
      );
    } else if (time.isExact) await time.advance(time.unit / 4);
  }
}
