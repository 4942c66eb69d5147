import { setImmediate as turn } from 'node:timers/promises';
import { createRandom } from './random.ts';

/**
 * The fault of one call: it fails without an effect, it has an effect but its result is lost, or it takes effect
 * late, after later calls.
 */
export type Fault = 'before' | 'after' | 'delay';

/** A call, for a fault plan. */
export interface FaultyCall {
  /** E.g. `hold`; a method of a store's collection is called `<collection>.<method>`. */
  readonly method: string;
  /** Counts all calls of the port, from 1. */
  readonly number: number;
  /** Counts the calls of this method, from 1. */
  readonly numberOfMethod: number;
}

/** Chooses the fault of every call, in call order. */
export type FaultPlan = (call: FaultyCall) => Fault | undefined;

/** The error of a call with a fault. */
export class InjectedFault extends Error {
  override readonly name = 'InjectedFault';
  /** Whether the call had its effect and only the result was lost. */
  readonly isApplied: boolean;

  constructor(method: string, isApplied: boolean) {
    super(isApplied ? `${method} went through, but its answer was lost` : `${method} did not go through`);
    this.isApplied = isApplied;
  }
}

/** Faults at the calls named. `call` counts the calls of the method, or all calls when no method is named. */
export function faultsAt(
  faults: readonly { readonly method?: string; readonly call: number; readonly fault: Fault }[],
): FaultPlan {
  return ({ method, number, numberOfMethod }) =>
    faults.find((each) =>
      each.method === undefined
        ? each.call === number
        : each.method === method && each.call === numberOfMethod,
    )?.fault;
}

/** Random faults, the same for the same seed. Each share is a probability, 0 to 1. */
export function randomFaults(
  seed: number,
  shares: {
    readonly before?: number;
    readonly after?: number;
    readonly delay?: number;
    /** Only these methods fail. Default: all. */
    readonly methods?: readonly string[];
  },
): FaultPlan {
  const random = createRandom(seed);
  const { before = 0, after = 0, delay = 0, methods } = shares;
  return ({ method }) => {
    // Draws one number per call, so that a plan for fewer methods affects the same calls.
    const drawn = random.below(1_000_000) / 1_000_000;
    if (methods !== undefined && !methods.includes(method)) return undefined;
    if (drawn < before) return 'before';
    if (drawn < before + after) return 'after';
    return drawn < before + after + delay ? 'delay' : undefined;
  };
}

/** Synchronous methods of ports, which have no faults. */
const SYNCHRONOUS: ReadonlySet<string> = new Set(['collection', 'onReady', 'models', 'verify']);

type AnyMethod = (...given: readonly unknown[]) => unknown;

/** Wraps a port with the faults of a plan. Calls inside a transaction have none; the transaction itself has. */
export function withFaults<P extends object>(port: P, plan: FaultPlan): P {
  const counts = new Map<string, number>();
  let number = 0;

  const call = async (method: string, perform: () => unknown): Promise<unknown> => {
    number += 1;
    const numberOfMethod = (counts.get(method) ?? 0) + 1;
    counts.set(method, numberOfMethod);
    const fault = plan({ method, number, numberOfMethod });
    if (fault === 'before') throw new InjectedFault(method, false);
    if (fault === 'delay') for (let turns = 0; turns < 3; turns += 1) await turn();
    const answer = await perform();
    if (fault === 'after') throw new InjectedFault(method, true);
    return answer;
  };

  const wrap = <T extends object>(target: T, prefix: string): T =>
    new Proxy(target, {
      get(_, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function' || typeof name !== 'string') return member;
        const method = member as AnyMethod;
        if (name === 'collection') {
          return (definition: { readonly name: string }) =>
            wrap(method.call(target, definition) as object, `${definition.name}.`);
        }
        if (SYNCHRONOUS.has(name)) return method.bind(target);
        return (...given: readonly unknown[]) => call(prefix + name, () => method.apply(target, [...given]));
      },
    });

  return wrap(port, '');
}
