import { describe, expect, it } from 'vitest';
import { getListFields, getNodes, toSchema } from '../support/list-fields.ts';
import { createTestApp } from '../support/test-app.ts';

/** Lists that may contain duplicates, with the reason. */
const REPEATABLE: Readonly<Record<string, string>> = {
  'createEmbeddings input': 'texts, each answered in its position',
};

const { api } = await createTestApp();
const OPERATIONS = api.routes.map(({ operation }) => operation);

const nodes = OPERATIONS.flatMap(({ id, input }) =>
  [input.params, input.query, input.body].flatMap((schema) =>
    schema === undefined
      ? []
      : getNodes(toSchema(schema)).map(({ path, node }) => ({ place: `${id} ${path}`, node })),
  ),
);

describe('schema of every request', () => {
  it('gives each list a maximum', () => {
    const lists = nodes.filter(({ node }) => node.type === 'array' || node.items !== undefined);
    expect(lists.length).toBeGreaterThan(20);
    expect(lists.filter(({ node }) => node.maxItems === undefined).map(({ place }) => place)).toEqual([]);
  });

  // Bodies with some known properties are bounded by the limit for every object of a body.
  it('gives each object with free property names a maximum', () => {
    const open = nodes.filter(
      ({ node }) => typeof node.additionalProperties === 'object' && node.properties === undefined,
    );
    expect(open.length).toBeGreaterThan(2);
    expect(open.filter(({ node }) => node.maxProperties === undefined).map(({ place }) => place)).toEqual([]);
  });

  it('has no list of texts that accepts duplicates', () => {
    const names = OPERATIONS.flatMap((operation) =>
      getListFields(operation)
        .filter(({ node }) => node.items?.type === 'string' && node.uniqueItems !== true)
        .map(({ path }) => `${operation.id} ${path}`),
    );
    expect(names.sort()).toEqual(Object.keys(REPEATABLE).sort());
  });
});
