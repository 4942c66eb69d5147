import { setTimeout as pause } from 'node:timers/promises';
import { createRandom } from '@questline/testing';
import { conversations } from './conversations.ts';
import { ownedResources } from './owned-resources.ts';
import { rejections } from './rejections.ts';
import type { Workload } from './workload.ts';

/** Number of scenarios by name and outcome. */
export type OutcomeCounts = Map<string, Map<string, number>>;

export interface Load {
  readonly ends: OutcomeCounts;
  /** Descriptions of unexpected outcomes. */
  readonly failures: string[];
  /** Started scenarios. */
  readonly begun: number;
  /** Skipped scenarios, because too many were running. */
  readonly heldBack: number;
  /** Resolves when the time is over and all started scenarios have ended. */
  readonly done: Promise<void>;
}

const SCENARIOS = [...conversations, ...ownedResources, ...rejections];
const MAX_AT_ONCE = 80;

/** Starts scenarios at a constant rate (open loop), up to a maximum of parallel ones. */
export function startLoad(
  workload: Workload,
  options: { readonly perSecond: number; readonly seconds: number },
): Load {
  const random = createRandom(7);
  const bag = SCENARIOS.flatMap((scenario) => Array.from({ length: scenario.weight }, () => scenario));
  const ends: OutcomeCounts = new Map(SCENARIOS.map(({ name }) => [name, new Map()]));
  const failures: string[] = [];
  const underWay = new Set<Promise<void>>();
  let begun = 0;
  let heldBack = 0;

  const begin = (): void => {
    const scenario = bag[random.below(bag.length)];
    const person = workload.regulars[begun % workload.regulars.length];
    if (scenario === undefined || person === undefined) return;
    begun += 1;
    const count = (end: string): void => {
      const known = ends.get(scenario.name);
      known?.set(end, (known.get(end) ?? 0) + 1);
    };
    const running = scenario.run(workload, person, random).then(count, (error: unknown) => {
      count('FAILED');
      const cause = error instanceof Error && error.cause !== undefined ? ` (${String(error.cause)})` : '';
      failures.push(`${scenario.name}: ${String(error)}${cause}`);
    });
    underWay.add(running);
    void running.then(() => underWay.delete(running));
  };

  const work = async (): Promise<void> => {
    const started = performance.now();
    const total = Math.round(options.perSecond * options.seconds);
    for (let number = 0; number < total; number += 1) {
      const due = started + (number * 1000) / options.perSecond;
      const early = due - performance.now();
      if (early > 0) await pause(early);
      if (underWay.size < MAX_AT_ONCE) begin();
      else heldBack += 1;
    }
    await Promise.all(underWay);
  };

  return {
    ends,
    failures,
    get begun() {
      return begun;
    },
    get heldBack() {
      return heldBack;
    },
    done: work(),
  };
}
