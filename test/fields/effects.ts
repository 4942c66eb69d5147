import type { Operation } from '@questline/core';
import type { TestApp } from '../support/test-app.ts';
import type { Asked, Wire } from '../support/wire.ts';
import { CASES } from '../wire/cases/index.ts';
import { getValues } from './generated.ts';
import { type Outcome, perform, type Setup, type Traces } from './outcome.ts';
import { type Field, put } from './places.ts';
import { SETUPS } from './setups.ts';
import { EXPECTED_REFUSALS, VALUES } from './values.ts';

/**
 * What the change of a field shows, the strongest first. `calls`: the requests to providers and receivers differ.
 * `answer only` and `money only`: they do not, although the operation makes such requests.
 */
export type Effect =
  | 'calls'
  | 'state'
  | 'refusal'
  | 'answer only'
  | 'money only'
  | 'none'
  | `refused: ${string}`;

const STRONG: readonly Effect[] = ['calls', 'state', 'refusal'];

/** Compares requests to one operation that differ in one field only. */
export interface Walker {
  find(field: Field): Promise<Effect>;
  /** Whether the same request has the same traces twice. */
  isSteady(): Promise<boolean>;
  close(): Promise<void>;
}

export function createWalker(operation: Operation): Walker {
  const setups: readonly Setup[] = [
    ...(SETUPS[operation.id] ?? []),
    ...(CASES[operation.id] ?? []).filter(({ status }) => status < 400),
  ];
  const outcomes = new Map<string, Promise<Outcome>>();
  const arranged = new Map<Field, readonly unknown[]>();

  /** Each base request is sent once. */
  function once(key: string, start: () => Promise<Outcome>): Promise<Outcome> {
    const known = outcomes.get(key) ?? start();
    outcomes.set(key, known);
    return known;
  }

  const list = async (field: Field, app: TestApp, wire: Wire, asked: Asked): Promise<readonly unknown[]> => {
    const arrange = VALUES[`${operation.id} ${field.path}`] ?? VALUES[field.name];
    return arrange === undefined ? getValues(field.node) : arrange(app, wire, asked);
  };

  async function getBase(setup: Setup, at: number, field: Field): Promise<Outcome> {
    const isArranged = `${operation.id} ${field.path}` in VALUES || field.name in VALUES;
    const plain = await once(`${at}`, () => perform(operation, setup, (asked) => asked));
    const shaped = setField(plain.asked, field, (old) => old);
    if (!isArranged && JSON.stringify(shaped) === JSON.stringify(plain.asked)) return plain;
    return once(`${at} ${isArranged ? field.path : JSON.stringify(shaped)}`, () =>
      perform(operation, setup, async (asked, app, wire) => {
        arranged.set(field, await list(field, app, wire, asked));
        return setField(asked, field, (old) => old);
      }),
    );
  }

  function getOthers(field: Field, { asked }: Outcome): { values: readonly unknown[]; old: unknown } {
    let old: unknown;
    setField(asked, field, (value) => {
      old = value;
      return value;
    });
    return { values: arranged.get(field) ?? getValues(field.node), old };
  }

  async function compare(before: Outcome, after: Outcome): Promise<Effect> {
    if (after.soon.calls !== before.soon.calls) return 'calls';
    const isSameAnswer = after.soon.answer === before.soon.answer;
    if (operation.method === 'GET') return isSameAnswer ? 'none' : 'state';
    const first = await before.worked();
    if (!isSameAnswer && !callsProvider(first)) return 'state';
    const second = await after.worked();
    if (second.calls !== first.calls) return 'calls';
    const isSame = isSameAnswer && (await after.state()) === (await before.state());
    if (isSame && first.money === second.money) return 'none';
    if (!callsProvider(first)) return 'state';
    return isSame ? 'money only' : 'answer only';
  }

  async function findIn(setup: Setup, at: number, field: Field): Promise<Effect> {
    const before = await getBase(setup, at, field);
    if (before.status >= 400) return `refused: ${before.text.slice(0, 300)}`;
    const { values, old } = getOthers(field, before);
    let found: Effect = 'refused: without another value';
    for (const [index, value] of values.entries()) {
      if (JSON.stringify(value) === JSON.stringify(old)) continue;
      const after = await perform(operation, setup, async (asked, app, wire) => {
        const own = await list(field, app, wire, asked);
        return setField(asked, field, () => own[index]);
      });
      try {
        if (after.status === EXPECTED_REFUSALS[`${operation.id} ${field.path}`]) return 'refusal';
        const effect: Effect =
          after.status >= 400 ? `refused: ${after.text.slice(0, 300)}` : await compare(before, after);
        if (STRONG.includes(effect)) return effect;
        found = stronger(found, effect);
      } finally {
        await after.close();
      }
    }
    return found;
  }

  return {
    async find(field) {
      let found: Effect = 'refused: without a setup';
      for (const [at, setup] of setups.entries()) {
        found = stronger(found, await findIn(setup, at, field));
        if (STRONG.includes(found)) break;
      }
      return found;
    },
    async isSteady() {
      const [setup = {}] = setups;
      const first = await once('0', () => perform(operation, setup, (asked) => asked));
      const second = await perform(operation, setup, (asked) => asked);
      const [before, after] = [await getTraces(first), await getTraces(second)];
      await second.close();
      return before === after;
    },
    async close() {
      for (const outcome of outcomes.values()) await (await outcome).close();
    },
  };
}

const ORDER = ['calls', 'state', 'refusal', 'answer only', 'money only', 'none'];
const stronger = (a: Effect, b: Effect): Effect => {
  const [first, second] = [ORDER.indexOf(a), ORDER.indexOf(b)];
  return first === -1 || (second !== -1 && second < first) ? b : a;
};

const getTraces = async (outcome: Outcome): Promise<string> =>
  JSON.stringify([outcome.soon, await outcome.worked(), await outcome.state()]);

const callsProvider = ({ calls }: Traces): boolean => /"(?:model|web)\./.test(calls.replaceAll('\\', ''));

/** The same request with another value of the field. */
function setField(asked: Asked, field: Field, change: (old: unknown) => unknown): Asked {
  // A form is one text: its only field is changed as a whole.
  if (typeof asked.body === 'string') return { ...asked, body: change(asked.body) };
  if (field.where === 'body') return { ...asked, body: put(asked.body ?? {}, field, change) };
  const [path = '', query] = asked.path.split('?');
  const old = Object.fromEntries(new URLSearchParams(query));
  const values = put(old, field, change) as Record<string, unknown>;
  const sent = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) sent.set(name, String(value));
  const text = sent.toString();
  return { ...asked, path: text === '' ? path : `${path}?${text}` };
}
