import type { Clock } from '../ports/clock.ts';

/** The longest wait between two counts of a line that is nearly full, in milliseconds. */
const RECOUNT_MS = 1000;
/** Maximum work that is accepted between two counts of a shorter line. */
const MAX_UNCOUNTED = 50;
/** The wait while the speed of the line is not known, in milliseconds. */
const DEFAULT_WAIT_MS = 5000;
const MIN_WAIT_MS = 1000;
const MAX_WAIT_MS = 60_000;
/** How long a place waits for its owner, in milliseconds. */
const PLACE_MS = 30_000;
/** The share of a line that is kept for promised places, beyond its maximum; and of these, the share of one owner. */
const PROMISED_SHARE = 0.1;
/** Counts that are further apart say nothing about the speed, in milliseconds. */
const MAX_MEASURED_MS = 10_000;

/**
 * Work that waits, up to a maximum. Counts rarely: in between it adds what this process accepted, so a line of several
 * processes may exceed its maximum by what each of them accepts between two counts.
 */
export interface Line {
  /**
   * Asks for admission. A refused owner gets a place: its request after the wait is admitted, also if the line is still full.
   * Promised places are at most a tenth of the maximum. Without one, the wait is an estimate. A promise only when it counts.
   * @returns undefined for an admitted owner, who must leave; else the milliseconds after which the owner is admitted: whole
   * seconds.
   */
  enter(owner: string): number | undefined | Promise<number | undefined>;
  /** Ends one admission: the work is stored, or was not accepted after all. */
  leave(isStored: boolean): void;
}

interface Place {
  readonly owner: string;
  readonly dueAt: number;
}

/** @param count returns the number of waiting jobs. @param hasOwners false: all work is of one owner. */
export function createLine(
  { clock, max, hasOwners }: { readonly clock: Clock; readonly max: number; readonly hasOwners: boolean },
  count: () => Promise<number>,
): Line {
  const maxPromised = Math.max(1, Math.floor(max * PROMISED_SHARE));
  const maxOfOwner = hasOwners ? Math.max(1, Math.floor(maxPromised * PROMISED_SHARE)) : maxPromised;
  const maxUncounted = Math.min(MAX_UNCOUNTED, Math.max(1, Math.floor(max / 20)));
  let counted = 0;
  let countedAt: number | undefined;
  /** Work of this process since the count began: stored, and not stored yet. */
  let stored = 0;
  let pending = 0;
  let recounting: Promise<void> | undefined;
  /** Jobs per millisecond that left the line. Undefined: not known. */
  let speed: number | undefined;
  let places: Place[] = [];

  const recount = async (): Promise<void> => {
    const before = stored;
    const found = await count();
    const now = clock.now();
    const elapsed = countedAt === undefined ? 0 : now - countedAt;
    if (elapsed > MAX_MEASURED_MS) speed = undefined;
    else if (elapsed >= RECOUNT_MS) speed = Math.max(0, counted + before - found) / elapsed;
    counted = found;
    // What was stored meanwhile may not be counted.
    stored -= before;
    countedAt = now;
  };

  const getExcess = (): number => counted + stored + pending + places.length - max;

  const isStale = (): boolean => {
    if (stored >= maxUncounted || (stored > 0 && getExcess() >= 0)) return true;
    const isLong = getExcess() >= -max / 2;
    return isLong && (countedAt === undefined || clock.now() - countedAt >= RECOUNT_MS);
  };

  const getWait = (position: number): number =>
    speed === undefined ? DEFAULT_WAIT_MS : toSeconds(position / speed);

  const admit = (place: Place | undefined): undefined => {
    if (place !== undefined) places = places.filter((one) => one !== place);
    pending += 1;
  };

  const decide = (owner: string): number | undefined => {
    const beyond = getExcess();
    if (places.length === 0 && beyond < 0) return admit(undefined);
    const now = clock.now();
    places = places.filter(({ dueAt }) => dueAt + PLACE_MS > now);
    const own = places.filter((place) => place.owner === owner);
    const [first] = own;
    const left = getExcess();
    if (first !== undefined && (first.dueAt <= now || left < 1)) return admit(first);
    if (left < 0) return admit(undefined);
    const last = own.at(-1);
    if (last !== undefined && own.length >= maxOfOwner) return toSeconds(last.dueAt - now);
    const afterMs = getWait(left + 1);
    if (left < maxPromised) places.push({ owner, dueAt: now + afterMs });
    return afterMs;
  };

  return {
    enter(owner) {
      if (!isStale()) return decide(owner);
      recounting ??= recount().finally(() => {
        recounting = undefined;
      });
      return recounting.then(() => decide(owner));
    },
    leave(isStored) {
      pending -= 1;
      if (isStored) stored += 1;
    },
  };
}

function toSeconds(wait: number): number {
  return Math.ceil(Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, wait)) / 1000) * 1000;
}
