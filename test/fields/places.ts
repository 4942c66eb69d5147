import type { Operation } from '@questline/core';
import { getSample, type SchemaNode, toSchema } from '../support/list-fields.ts';

/** A step from a value into its parts. */
type Step =
  | { readonly kind: 'property'; readonly name: string; readonly owner: SchemaNode }
  | { readonly kind: 'item' }
  | { readonly kind: 'option'; readonly node: SchemaNode };

/** A field of a request that can have more than one value. */
export interface Field {
  readonly where: 'body' | 'query';
  /** For example `messages[].content[](tool_use).id`; options of a union are in parentheses. */
  readonly path: string;
  /** The last property of the path. */
  readonly name: string;
  readonly node: SchemaNode;
  readonly isRequired: boolean;
  readonly steps: readonly Step[];
}

/** Every field of a body and query, at any depth, with each option of a union. */
export function getFields({ input }: Operation): readonly Field[] {
  const parts = [
    ['query', input.query],
    ['body', input.body],
  ] as const;
  return parts.flatMap(([where, schema]) =>
    schema === undefined ? [] : walk(where, toSchema(schema), '', [], true),
  );
}

function walk(
  where: Field['where'],
  node: SchemaNode,
  path: string,
  steps: readonly Step[],
  isRequired: boolean,
): readonly Field[] {
  const options = [...(node.anyOf ?? []), ...(node.oneOf ?? [])].filter(({ type }) => type !== 'null');
  const [only] = options;
  if (only !== undefined) {
    if (options.length === 1) return walk(where, { ...only, nullable: true }, path, steps, isRequired);
    return options.flatMap((option, at) =>
      walk(
        where,
        option,
        `${path}(${getLabel(option, at)})`,
        [...steps, { kind: 'option', node: option }],
        isRequired,
      ),
    );
  }
  // A constant has no other value: the options of its union are the alternatives.
  if (isConstant(node)) return steps.at(-1)?.kind === 'option' ? [toField()] : [];
  const properties = Object.entries(node.properties ?? {});
  if (properties.some(([, child]) => !isConstant(child)))
    return properties.flatMap(([name, child]) =>
      walk(
        where,
        child,
        path === '' ? name : `${path}.${name}`,
        [...steps, { kind: 'property', name, owner: node }],
        node.required?.includes(name) === true,
      ),
    );
  const inside =
    node.items !== undefined && !isScalar(node.items)
      ? walk(where, node.items, `${path}[]`, [...steps, { kind: 'item' }], true)
      : [];
  return [toField(), ...inside];

  function toField(): Field {
    const name = steps.findLast((step) => step.kind === 'property')?.name ?? '';
    return { where, path, name, node, isRequired, steps };
  }
}

const isConstant = (node: SchemaNode): boolean => 'const' in node || node.enum?.length === 1;

const isScalar = ({ properties, items, anyOf, oneOf }: SchemaNode): boolean =>
  properties === undefined && items === undefined && anyOf === undefined && oneOf === undefined;

function getLabel({ properties = {}, type }: SchemaNode, at: number): string {
  const tag = Object.values(properties).find((child) => typeof child.const === 'string')?.const;
  return typeof tag === 'string' ? tag : typeof type === 'string' ? `${type}` : `${at}`;
}

/** Puts a value at the field. An absent parent is created from its schema. */
export function put(base: unknown, { steps }: Field, change: (old: unknown) => unknown): unknown {
  const known = locate(base, steps, true) ?? locate(base, steps, false);
  if (known !== undefined) return replace(base, known, change);
  const created = create(base, steps);
  return replace(created, locate(created, steps, false) ?? [], change);
}

/** The position of the field in a value that contains its parent. */
function locate(value: unknown, steps: readonly Step[], exists: boolean): PropertyKey[] | undefined {
  const [step, ...rest] = steps;
  if (step === undefined) return exists && value === undefined ? undefined : [];
  if (step.kind === 'option') {
    if (rest.length === 0 && !exists) return [];
    return fits(step.node, value) ? locate(value, rest, exists) : undefined;
  }
  if (step.kind === 'property') {
    if (!isObject(value)) return undefined;
    const inside = locate(value[step.name], rest, exists);
    return inside && [step.name, ...inside];
  }
  if (!Array.isArray(value)) return undefined;
  for (const [at, entry] of value.entries()) {
    const inside = locate(entry, rest, exists);
    if (inside !== undefined) return [at, ...inside];
  }
  return undefined;
}

function create(value: unknown, steps: readonly Step[]): unknown {
  const [step, ...rest] = steps;
  if (step === undefined) return value;
  if (step.kind === 'item') return [create(undefined, rest)];
  if (step.kind === 'option')
    return rest.length === 0 || fits(step.node, value)
      ? create(value, rest)
      : create(getSample(step.node), rest);
  const owner = isObject(value) ? value : (getSample(step.owner) as Record<string, unknown>);
  return rest.length === 0 ? owner : { ...owner, [step.name]: create(owner[step.name], rest) };
}

function replace(value: unknown, keys: readonly PropertyKey[], change: (old: unknown) => unknown): unknown {
  const [key, ...rest] = keys;
  if (key === undefined) return change(value);
  if (Array.isArray(value))
    return value.map((entry, at) => (at === key ? replace(entry, rest, change) : entry));
  const owner = value as Record<PropertyKey, unknown>;
  return { ...owner, [key]: replace(owner[key], rest, change) };
}

function fits(node: SchemaNode, value: unknown): boolean {
  if (node.type === 'array' || node.items !== undefined) return Array.isArray(value);
  if (node.properties === undefined) return typeof value === node.type;
  return (
    isObject(value) &&
    Object.entries(node.properties).every(([name, child]) =>
      'const' in child
        ? value[name] === child.const
        : child.enum === undefined || value[name] === undefined || child.enum.includes(value[name]),
    )
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
