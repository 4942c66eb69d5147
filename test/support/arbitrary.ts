import fc, { type Arbitrary } from 'fast-check';

type JsonSchema = Readonly<Record<string, unknown>>;

/** Strings that often cause errors. */
const NASTY: readonly string[] = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u{1F600}',
  '\u202e',
  'e\u0301'.repeat(50),
  '__proto__',
  'constructor',
  'toString',
  'null',
  'NaN',
  '-1',
  '1e309',
  "'; drop table users; --",
  '{"$ne":null}',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  'data:image/png;base64,AAAA',
  'http://169.254.169.254/',
  'x'.repeat(20_000),
  '[DONE]\n\ndata: {}',
  '0'.repeat(24),
  'f'.repeat(24),
];

const nastyNumbers = fc.constantFrom(
  ...[0, -0, 1, -1, 0.5, 2 ** 31, 2 ** 53, -(2 ** 53) - 2, 1e-320, 1.7e308, Number.MAX_SAFE_INTEGER],
);

/** Random text, or text that often causes errors. */
export const nastyText = fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: 'binary', maxLength: 30 }));

/** Any JSON value, including keys that reach prototypes. */
export const anything: Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'anything' },
    nastyText,
    nastyNumbers,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4, depthIdentifier: 'anything' }),
    fc.dictionary(nastyText, tie('value'), { maxKeys: 4, depthIdentifier: 'anything' }),
  ),
})).value;

export interface ArbitraryOptions {
  /** Strings that name existing things, such as models and IDs. */
  readonly known: readonly string[];
  /** Valid values by property name, so that requests pass validation. */
  readonly usual: Readonly<Record<string, Arbitrary<unknown>>>;
  /** One of this number of values is invalid. 0: all are valid. */
  readonly wrongOneIn: number;
}

/** Values for a JSON Schema of zod: mostly valid, sometimes invalid. */
export function getArbitrary(schema: JsonSchema, options: ArbitraryOptions): Arbitrary<unknown> {
  const definitions = (schema.$defs ?? {}) as Readonly<Record<string, JsonSchema>>;
  const { known, usual, wrongOneIn } = options;
  const knownText = fc.constantFrom(...known);

  function build(node: JsonSchema, depth: number): Arbitrary<unknown> {
    const right = valid(node, depth);
    return wrongOneIn === 0
      ? right
      : fc.oneof({ weight: wrongOneIn - 1, arbitrary: right }, { weight: 1, arbitrary: anything });
  }

  function valid(node: JsonSchema, depth: number): Arbitrary<unknown> {
    if (depth > 8) return fc.constant(null);
    if ('const' in node) return fc.constant(node.const);
    if (Array.isArray(node.enum)) return fc.constantFrom(...(node.enum as unknown[]));
    if (typeof node.$ref === 'string') {
      const target = node.$ref === '#' ? schema : definitions[node.$ref.split('/').at(-1) ?? ''];
      return build(target ?? {}, depth + 1);
    }
    for (const union of [node.anyOf, node.oneOf]) {
      if (Array.isArray(union)) return fc.oneof(...union.map((one: JsonSchema) => build(one, depth + 1)));
    }
    if (Array.isArray(node.type)) {
      return fc.oneof(...node.type.map((type: string) => valid({ ...node, type }, depth + 1)));
    }
    switch (node.type) {
      case 'string':
        return text(node);
      case 'integer':
      case 'number':
        return numeric(node);
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      case 'array':
        return fc.array(build((node.items ?? {}) as JsonSchema, depth + 1), {
          minLength: Number(node.minItems ?? 0),
          maxLength: Math.min(Number(node.maxItems ?? 4), Math.max(4, Number(node.minItems ?? 0))),
        });
      case 'object':
        return record(node, depth);
      default:
        return anything;
    }
  }

  function text(node: JsonSchema): Arbitrary<unknown> {
    if (typeof node.pattern === 'string') {
      try {
        return fc.oneof(fc.stringMatching(new RegExp(node.pattern)), knownText);
      } catch {
        // A pattern beyond what can be generated from.
      }
    }
    const { minLength, maxLength } = node as { minLength?: number; maxLength?: number };
    const free = fc.string({
      unit: 'grapheme-composite',
      minLength: minLength ?? 0,
      maxLength: Math.max(minLength ?? 0, Math.min(maxLength ?? 40, 40)),
    });
    const bounds = maxLength === undefined ? [] : [fc.constant('a'.repeat(maxLength))];
    if (maxLength !== undefined && wrongOneIn > 0) bounds.push(fc.constant('a'.repeat(maxLength + 1)));
    return fc.oneof({ weight: 3, arbitrary: free }, { weight: 3, arbitrary: knownText }, ...bounds);
  }

  function numeric(node: JsonSchema): Arbitrary<unknown> {
    const isWhole = node.type === 'integer';
    const smallest = isWhole ? 1 : 1e-6;
    const above =
      node.exclusiveMinimum === undefined ? node.minimum : Number(node.exclusiveMinimum) + smallest;
    const below =
      node.exclusiveMaximum === undefined ? node.maximum : Number(node.exclusiveMaximum) - smallest;
    const min = Number(above ?? -1000);
    const max = Number(below ?? Math.max(min, 0) + 1000);
    const within = isWhole
      ? fc.integer({ min, max: Math.min(max, min + 100_000) })
      : fc.double({ min, max, noNaN: true });
    const edges = wrongOneIn === 0 ? [min, max] : [min, max, min - smallest, max + smallest];
    return fc.oneof({ weight: 4, arbitrary: within }, { weight: 1, arbitrary: fc.constantFrom(...edges) });
  }

  function member(name: string, node: JsonSchema, isRequired: boolean, depth: number): Arbitrary<unknown> {
    const value = build(node, depth + 1);
    const likely = usual[name];
    const present =
      likely === undefined
        ? value
        : fc.oneof({ weight: 4, arbitrary: likely }, { weight: 1, arbitrary: value });
    // JSON omits undefined values.
    const absent = fc.constant(undefined);
    if (isRequired && wrongOneIn === 0) return present;
    const weight = isRequired ? 1 : likely === undefined ? 40 : 5;
    return fc.oneof({ weight: 20, arbitrary: present }, { weight, arbitrary: absent });
  }

  function record(node: JsonSchema, depth: number): Arbitrary<unknown> {
    const properties = (node.properties ?? {}) as Readonly<Record<string, JsonSchema>>;
    const required = (node.required ?? []) as string[];
    const named = fc.record(
      Object.fromEntries(
        Object.entries(properties).map(([name, one]) => [
          name,
          member(name, one, required.includes(name), depth),
        ]),
      ),
    );
    const extra = node.additionalProperties;
    const isOpen = typeof extra === 'object' && extra !== null;
    if (!isOpen && wrongOneIn === 0) return named;
    const more = fc.dictionary(nastyText, isOpen ? build(extra as JsonSchema, depth + 1) : anything, {
      maxKeys: 2,
    });
    return fc
      .tuple(
        named,
        fc.oneof({ weight: isOpen ? 1 : 8, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: more }),
      )
      .map(([known, others]) => ({ ...others, ...known }));
  }

  return build(schema, 0);
}
