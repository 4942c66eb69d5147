import { getSettledAmount } from '../credits/hold-caps.ts';
import type { CapUsage, HoldCap } from '../ports/caps.ts';
import type { HoldOutcome, HoldRequest } from '../ports/ledger.ts';
import type { Reservation } from './reservation.ts';

/** The used amounts of a cap, in its units. */
export interface CapState {
  charged: number;
  held: number;
}

/** A cap that a hold counts against. */
export interface CountedCap {
  readonly cap: HoldCap;
  readonly state: CapState;
}

/** The caps of one hold. */
export interface HoldCaps {
  readonly cap: CapState | undefined;
  readonly caps: readonly CountedCap[];
}

/** Shared by all holds without caps, since most have none. */
export const NO_CAPS: HoldCaps = { cap: undefined, caps: [] };

/** The caps of a ledger by id. */
export interface CapStates {
  /** Finds the caps of a hold. Changes no sum. @returns a refusal if one has no room. */
  find(request: HoldRequest): HoldCaps | HoldOutcome;
  read(id: string): CapUsage;
}

export function createCapStates(): CapStates {
  const states = new Map<string, CapState>();
  const open = (id: string): CapState => {
    const state = states.get(id) ?? { charged: 0, held: 0 };
    states.set(id, state);
    return state;
  };
  return {
    find({ amount, cap, caps = [] }) {
      if (cap === undefined && caps.length === 0) return NO_CAPS;
      let state: CapState | undefined;
      if (cap !== undefined) {
        state = open(cap.id);
        const used = state.charged + state.held;
        if (used + amount > cap.limit) {
          return { outcome: 'spend_cap_exceeded', used, limit: cap.limit, required: amount };
        }
      }
      const counted = caps.map((one) => ({ cap: { ...one }, state: open(one.id) }));
      for (const { cap: one, state: current } of counted) {
        const { charged: spent, held: reserved } = current;
        if (spent + reserved + one.amount <= one.limit) continue;
        const { id: capId, limit, amount: required } = one;
        return { outcome: 'cap_exceeded', capId, spent, reserved, limit, required };
      }
      return { cap: state, caps: counted };
    },
    read(id) {
      const { charged: spent = 0, held: reserved = 0 } = states.get(id) ?? {};
      return { spent, reserved };
    },
  };
}

/** Adds a hold to its caps, or with -1 subtracts it. */
export function countHeld({ cap, caps, reserved }: Reservation, sign: 1 | -1): void {
  if (cap !== undefined) cap.held += sign * reserved;
  for (const { cap: one, state } of caps) state.held += sign * one.amount;
}

/** Adds a settled hold to its caps. */
export function countCharged({ cap, caps, charged, usage }: Reservation): void {
  if (cap !== undefined) cap.charged += charged;
  for (const { cap: one, state } of caps) state.charged += getSettledAmount(one, charged, usage);
}
