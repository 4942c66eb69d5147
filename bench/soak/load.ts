import { setTimeout as pause } from 'node:timers/promises';
import { createRandom } from '@questline/testing';
import { belongings } from './belongings.ts';
import { conversations } from './conversations.ts';
import { doors } from './doors.ts';
import type { Town } from './people.ts';

/** How errands ended, by name and by end. */
export type Ends = Map<string, Map<string, number>>;

export interface Load {
  readonly ends: Ends;
  /** What went otherwise than it may, in words. */
  readonly failures: string[];
  /** Begun, of all kinds. */
  readonly begun: number;
  /** Not begun, because too many were under way. */
  readonly heldBack: number;
  /** Resolves once the time is up and all that was begun has ended. */
  readonly done: Promise<void>;
}

const ERRANDS = [...conversations, ...belongings, ...doors];
const MOST_AT_ONCE = 80;

/** Begins errands at a steady rate, whether or not the earlier ones have ended, up to a number at once. */
export function startLoad(town: Town, terms: { readonly perSecond: number; readonly seconds: number }): Load {
  const random = createRandom(7);
  const bag = ERRANDS.flatMap((errand) => Array.from({ length: errand.weight }, () => errand));
  const ends: Ends = new Map(ERRANDS.map(({ name }) => [name, new Map()]));
  const failures: string[] = [];
  const underWay = new Set<Promise<void>>();
  let begun = 0;
  let heldBack = 0;

  const begin = (): void => {
    const errand = bag[random.below(bag.length)];
    const person = town.regulars[begun % town.regulars.length];
    if (errand === undefined || person === undefined) return;
    begun += 1;
    const count = (end: string): void => {
      const known = ends.get(errand.name);
      known?.set(end, (known.get(end) ?? 0) + 1);
    };
    const running = errand.run(town, person, random).then(count, (error: unknown) => {
      count('FAILED');
      const cause = error instanceof Error && error.cause !== undefined ? ` (${String(error.cause)})` : '';
      failures.push(`${errand.name}: ${String(error)}${cause}`);
    });
    underWay.add(running);
    void running.then(() => underWay.delete(running));
  };

  const work = async (): Promise<void> => {
    const started = performance.now();
    const total = Math.round(terms.perSecond * terms.seconds);
    for (let number = 0; number < total; number += 1) {
      const due = started + (number * 1000) / terms.perSecond;
      const early = due - performance.now();
      if (early > 0) await pause(early);
      if (underWay.size < MOST_AT_ONCE) begin();
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
