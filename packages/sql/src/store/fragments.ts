import type { SqlDialect } from '../database.ts';
import type { SqlStatement } from '../statement.ts';

/** Marks fragments. Parsed JSON cannot have it, so a value that looks like a fragment is bound. */
const MARK = Symbol('fragment');

/** A part of an SQL text with what it binds. There is one text more than there are values. */
export interface Fragment {
  readonly [MARK]: true;
  readonly texts: readonly string[];
  /** Between the texts: fragments, and parameters. */
  readonly values: readonly unknown[];
  /** The parameter of each place, where a parameter has several. `values` has each once then, and no fragments. */
  readonly places?: readonly number[];
}

const COMMA: Fragment = { [MARK]: true, texts: [', '], values: [] };

/** Builds a fragment of a template: fragments are inserted, and all other values are bound. */
export function sql(texts: TemplateStringsArray, ...values: readonly unknown[]): Fragment {
  return { [MARK]: true, texts, values };
}

/** Text without parameters. It must not contain input. */
sql.raw = (text: string): Fragment => ({ [MARK]: true, texts: [text], values: [] });

/** A list, which must not be empty. @param separator default: a comma. */
sql.join = (values: readonly unknown[], { texts: [separator = ''] }: Fragment = COMMA): Fragment => {
  const texts = new Array<string>(values.length + 1).fill(separator);
  texts[0] = '';
  texts[values.length] = '';
  return { [MARK]: true, texts, values };
};

/** Composes the text in the engine's format, with the parameters in their order. */
export function compile(fragment: Fragment, dialect: SqlDialect): SqlStatement {
  const parameters: unknown[] = [];
  let text = '';
  const bind = (value: unknown): string => {
    parameters.push(value);
    return dialect === 'sqlite' ? '?' : `$${parameters.length}`;
  };
  const add = ({ texts, values, places }: Fragment): void => {
    // SQLite binds a parameter once per place.
    const bound: string[] | undefined = places && dialect === 'postgres' ? [] : undefined;
    text += texts[0];
    for (let at = 1; at < texts.length; at += 1) {
      const place = places?.[at - 1] ?? at - 1;
      const value = values[place];
      if (bound !== undefined) text += bound[place] ??= bind(value);
      else if (isFragment(value)) add(value);
      else text += bind(value);
      text += texts[at];
    }
  };
  add(fragment);
  return { sql: text, parameters };
}

function isFragment(value: unknown): value is Fragment {
  return typeof value === 'object' && value !== null && MARK in value;
}

/** Makes a compiled statement a part of another one. */
export type ToFragment = (statement: SqlStatement) => Fragment;

/** Each text is read once; there are few. */
export function createToFragment(): ToFragment {
  const known = new Map<string, Required<Pick<Fragment, 'texts' | 'places'>>>();
  return ({ sql: text, parameters }) => {
    const read = known.get(text) ?? readPlaces(text);
    known.set(text, read);
    return { [MARK]: true, ...read, values: parameters };
  };
}

function readPlaces(text: string): Required<Pick<Fragment, 'texts' | 'places'>> {
  const places = [...text.matchAll(/\$(\d+)|\?/g)].map(([, number], at) =>
    number === undefined ? at : Number(number) - 1,
  );
  return { texts: text.split(/\$\d+|\?/), places };
}
