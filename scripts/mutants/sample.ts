import { createRandom } from '@questline/testing';

/** Draws members of a list. The same seed draws the same ones. */
export function drawSample<T>(list: readonly T[], count: number, seed: number): readonly T[] {
  const random = createRandom(seed);
  const left = [...list];
  const drawn: T[] = [];
  while (drawn.length < count && left.length > 0) drawn.push(...left.splice(random.below(left.length), 1));
  return drawn;
}
