import type { Operation } from '@questline/core';
import { z } from 'zod';

interface JsonNode {
  readonly properties?: Readonly<Record<string, JsonNode>>;
  readonly items?: JsonNode;
  readonly anyOf?: readonly JsonNode[];
  readonly oneOf?: readonly JsonNode[];
  readonly allOf?: readonly JsonNode[];
  readonly type?: unknown;
}

/** Path of the field in a body or query, and whether it is a list. */
export interface IdField {
  readonly path: string;
  readonly isList: boolean;
}

const ID_NAME = /(?:^|_)ids?$|Ids?$/;

/** The fields of a schema that contain IDs, by their names. */
export function getIdFields(schema: z.ZodType | undefined): readonly IdField[] {
  const found = new Map<string, IdField>();
  const walk = (node: JsonNode, place: string): void => {
    for (const [name, child] of Object.entries(node.properties ?? {})) {
      const path = `${place}${name}`;
      if (ID_NAME.test(name)) found.set(path, { path, isList: /s$/.test(name) });
      walk(child, `${path}.`);
    }
    if (node.items !== undefined) walk(node.items, `${place}[].`);
    for (const option of [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])])
      walk(option, place);
  };
  for (const root of getJson(schema)) walk(root, '');
  return [...found.values()];
}

/** The top-level fields of a body. */
export function getTopFields({ input }: Operation): ReadonlySet<string> {
  const names = (node: JsonNode): string[] => [
    ...Object.keys(node.properties ?? {}),
    ...[...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])].flatMap(names),
  ];
  return new Set(getJson(input.body).flatMap(names));
}

/** A transforming schema has an input and an output side; either may contain the fields. */
function getJson(schema: z.ZodType | undefined): readonly JsonNode[] {
  if (schema === undefined) return [];
  return (['input', 'output'] as const).map(
    (io) => z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonNode,
  );
}
