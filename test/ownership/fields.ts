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

/** Where in a body or query, and whether a list stands there. */
export interface IdField {
  readonly path: string;
  readonly isList: boolean;
}

const ID_NAME = /(?:^|_)ids?$|Ids?$/;

/** Every field of a schema that is named as one that holds ids. */
export function idFieldsOf(schema: z.ZodType | undefined): readonly IdField[] {
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
  for (const root of jsonOf(schema)) walk(root, '');
  return [...found.values()];
}

/** What a body names at its top. */
export function topFieldsOf({ input }: Operation): ReadonlySet<string> {
  const names = (node: JsonNode): string[] => [
    ...Object.keys(node.properties ?? {}),
    ...[...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])].flatMap(names),
  ];
  return new Set(jsonOf(input.body).flatMap(names));
}

/** A schema that changes what came has two sides, and either may be the one that says something. */
function jsonOf(schema: z.ZodType | undefined): readonly JsonNode[] {
  if (schema === undefined) return [];
  return (['input', 'output'] as const).map(
    (io) => z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonNode,
  );
}
