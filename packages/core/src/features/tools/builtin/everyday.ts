import * as z from 'zod';
import type { Clock } from '../../../ports/clock.ts';
import type { Ids } from '../../../ports/ids.ts';
import { answered, defineTool, failed, type Tool } from '../../../tools/tool.ts';
import { ArithmeticError, evaluate } from './arithmetic.ts';

const TIME_INPUT = z.object({
  time_zone: z.string().max(64).optional().meta({ description: 'IANA name, e.g. Europe/Berlin.' }),
});

const CALCULATOR_INPUT = z.object({ expression: z.string().min(1).max(500) });

const DICE_INPUT = z.object({
  count: z.number().int().min(1).max(100).default(1),
  sides: z.number().int().min(2).max(1000).default(6),
});

/** Tools without external services: the time, arithmetic, dice. */
export function everydayTools(services: { readonly clock: Clock; readonly ids: Ids }): Tool[] {
  return [
    defineTool({
      id: 'current_datetime',
      description: 'Returns the current date and time, in UTC and in a time zone of your choice.',
      input: TIME_INPUT,
      offered: 'default',
      fits: /\b(?:time|date|today|now|day|tomorrow|yesterday|week|month|year|clock)\b/i,
      run({ time_zone }) {
        const now = new Date(services.clock.now());
        const local = time_zone === undefined ? undefined : localTime(now, time_zone);
        if (time_zone !== undefined && local === undefined)
          return failed(`There is no time zone ${time_zone}.`);
        return answered(JSON.stringify({ utc: now.toISOString(), local, time_zone }));
      },
    }),
    defineTool({
      id: 'calculator',
      description:
        'Computes an arithmetic expression exactly as written: + - * / % ^, parentheses, sqrt, abs, round, floor, ceil, ' +
        'sin, cos, tan, ln, log, exp, pi, e.',
      input: CALCULATOR_INPUT,
      offered: 'default',
      fits: /\d\s*[-+*/^%]\s*\d|\b(?:calculate|compute|sum|add|multiply|divide|percent|average|square root)\b/i,
      run({ expression }) {
        try {
          return answered(String(evaluate(expression)));
        } catch (error) {
          if (error instanceof ArithmeticError)
            return failed(`The expression cannot be computed: ${error.message}.`);
          throw error;
        }
      },
    }),
    defineTool({
      id: 'dice_roll',
      description: 'Rolls fair dice and returns each one and their sum.',
      input: DICE_INPUT,
      offered: 'default',
      fits: /\b(?:dice|die|roll|d\d+|random number)\b/i,
      run({ count, sides }) {
        const rolls = Array.from({ length: count }, () => 1 + below(sides, services.ids));
        const total = rolls.reduce((sum, roll) => sum + roll, 0);
        return answered(JSON.stringify({ rolls, total }), { type: 'dice', payload: { sides, rolls, total } });
      },
    }),
  ];
}

function localTime(now: Date, timeZone: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'long' }).format(now);
  } catch {
    return undefined;
  }
}

/** Uniform distribution: rejects random numbers that would introduce modulo bias. */
function below(limit: number, ids: Ids): number {
  const fair = Math.floor(65_536 / limit) * limit;
  for (;;) {
    const [high = 0, low = 0] = ids.bytes(2);
    const value = high * 256 + low;
    if (value < fair) return value % limit;
  }
}
