import { getSample, type SchemaNode } from '../support/list-fields.ts';

const NUMBERS: readonly number[] = [2, 1, 0.25, 0.75, 7, 64, 300, 2048, 100_000];
const TEXTS: readonly string[] = ['zebra', 'quokka', 'zebra.txt'];
/** By format of a text. */
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  'date-time': [
    '2026-12-24T18:00:00Z',
    '2026-11-22T12:00:00Z',
    '2026-11-21T12:00:00.001Z',
    '2026-11-20T12:00:00Z',
  ],
  date: ['2026-12-24', '2026-11-22', '2026-11-20'],
};

/** Other values that the schema accepts. */
export function getValues(node: SchemaNode): readonly unknown[] {
  const types = [node.type ?? []].flat();
  return [
    ...(node.enum ?? []),
    ...types.flatMap((type) => (node.enum === undefined ? valuesOf({ ...node, type }) : [])),
    ...(node.nullable === true ? [null] : []),
  ];
}

function valuesOf(node: SchemaNode): readonly unknown[] {
  switch (node.type) {
    case 'boolean':
      return [true, false];
    case 'integer':
    case 'number':
      return NUMBERS.filter((value) => isWithin(node, value));
    case 'string':
      return (FORMATS[node.format ?? ''] ?? TEXTS).filter((value) => value.length >= (node.minLength ?? 0));
    case 'array': {
      const entries = getValues(node.items ?? {});
      const samples = entries.length > 0 ? entries : [getSample(node.items ?? {})];
      return [samples.slice(0, 1), samples.slice(1, 2), []].filter(
        (list) => list.length >= (node.minItems ?? 0),
      );
    }
    case 'object':
      return node.properties === undefined ? [{ zebra: 1 }, {}] : [getSample(node)];
    case 'null':
      return [null];
    default:
      return [];
  }
}

function isWithin(node: SchemaNode, value: number): boolean {
  const { type, minimum = -Infinity, exclusiveMinimum = -Infinity, maximum = Infinity } = node;
  return (
    value >= minimum &&
    value > exclusiveMinimum &&
    value <= maximum &&
    (type === 'number' || Number.isInteger(value))
  );
}
