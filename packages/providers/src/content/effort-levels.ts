import type { ReasoningEffort } from '@questline/core/ports';

const ORDER: readonly ReasoningEffort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];

/**
 * The level nearest to the requested one. Of two equally near, the higher: too little reasoning
 * costs more than the additional tokens. Without known levels, the requested one.
 */
export function fitEffort(
  effort: ReasoningEffort,
  levels: readonly ReasoningEffort[] | undefined,
): ReasoningEffort {
  if (levels === undefined || levels.length === 0 || levels.includes(effort)) return effort;
  const wanted = ORDER.indexOf(effort);
  const distance = (level: ReasoningEffort): number => Math.abs(ORDER.indexOf(level) - wanted);
  return levels.reduce((best, level) => {
    const difference = distance(level) - distance(best);
    if (difference !== 0) return difference < 0 ? level : best;
    return ORDER.indexOf(level) > ORDER.indexOf(best) ? level : best;
  });
}
