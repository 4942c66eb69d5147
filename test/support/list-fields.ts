import type { Operation } from '@questline/core';
import { z } from 'zod';

/** The parts of a JSON Schema that define lists and open objects. */
export interface SchemaNode {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: SchemaNode | boolean;
  readonly maxProperties?: number;
  readonly items?: SchemaNode;
  /** Also accepts null. */
  readonly nullable?: boolean;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly default?: unknown;
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
  readonly allOf?: readonly SchemaNode[];
}

/** A position in a body that accepts a value of one kind. */
export interface BodyPlace {
  /** For example `messages.[].content`. */
  readonly path: string;
  /** The last property of the path. */
  readonly name: string;
  readonly node: SchemaNode;
  /** The smallest body with this value at the position. */
  put(value: unknown): unknown;
}

/** A list anywhere in a body. */
export type ListField = BodyPlace;

export function toSchema(schema: z.ZodType): SchemaNode {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as SchemaNode;
}

/** Every position in a body, at any depth. */
export function getPlaces({ input: { body } }: Operation): readonly BodyPlace[] {
  if (body === undefined) return [];
  const places: BodyPlace[] = [];
  const walk = (node: SchemaNode, path: string, put: (value: unknown) => unknown): void => {
    places.push({ path, name: path.split('.').findLast((part) => part !== '[]') ?? '', node, put });
    if (node.items !== undefined) walk(node.items, `${path}.[]`, (value) => put([value]));
    for (const [name, child] of Object.entries(node.properties ?? {})) {
      const inside = path === '' ? name : `${path}.${name}`;
      walk(child, inside, (value) => put({ ...(getSample(node) as object), [name]: value }));
    }
    for (const option of toOptions(node)) walk(option, path, put);
  };
  walk(toSchema(body), '', (value) => value);
  return places;
}

/** Every list of a body, at any depth. */
export function getListFields(operation: Operation): readonly ListField[] {
  const lists = getPlaces(operation).filter(({ node }) => node.items !== undefined);
  return [...new Map(lists.map((place) => [place.path, place])).values()];
}

/** Puts a list into a valid body. */
export function putList(body: unknown, { path, put }: ListField, list: readonly unknown[]): object {
  const [top = ''] = path.split('.');
  const { [top]: replaced } = put(list) as Record<string, unknown>;
  return { ...(body as object | undefined), [top]: replaced };
}

/** Every node of a schema, with its path. */
export function getNodes(root: SchemaNode): readonly { readonly path: string; readonly node: SchemaNode }[] {
  const nodes: { path: string; node: SchemaNode }[] = [];
  const walk = (node: SchemaNode, path: string): void => {
    nodes.push({ path, node });
    if (node.items !== undefined) walk(node.items, `${path}[].`);
    for (const [name, child] of Object.entries(node.properties ?? {})) walk(child, `${path}${name}.`);
    if (typeof node.additionalProperties === 'object') walk(node.additionalProperties, `${path}*.`);
    for (const option of toOptions(node)) walk(option, path);
  };
  walk(root, '');
  return nodes;
}

/** The smallest value that the schema accepts. */
export function getSample(node: SchemaNode): unknown {
  if ('const' in node) return node.const;
  if (node.enum !== undefined) return node.enum[0];
  const [option] = toOptions(node);
  if (option !== undefined) return getSample(option);
  switch (Array.isArray(node.type) ? node.type[0] : node.type) {
    case 'string':
      return 'AAAA'.repeat(Math.max(1, Math.ceil((node.minLength ?? 1) / 4)));
    case 'number':
    case 'integer':
      return node.minimum ?? 1;
    case 'boolean':
      return true;
    case 'array':
      return Array.from({ length: node.minItems ?? 0 }, () => getSample(node.items ?? {}));
    case 'object':
      return Object.fromEntries(
        (node.required ?? []).map((name) => [name, getSample(node.properties?.[name] ?? {})]),
      );
    default:
      return null;
  }
}

function toOptions({ anyOf = [], oneOf = [], allOf = [] }: SchemaNode): readonly SchemaNode[] {
  return [...anyOf, ...oneOf, ...allOf];
}
