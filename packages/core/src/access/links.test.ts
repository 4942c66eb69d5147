import { createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { checkLinks, type LinkReader, mergeLinks, toLinks } from './links.ts';

const ids = createFakeIds();
const [first, second, unknown] = [ids.next(), ids.next(), ids.next()];

/** Knows two files, and keeps what it was asked. */
function openReader() {
  const asked: unknown[] = [];
  const links: LinkReader = {
    async findReadable(kind, wanted, userId) {
      asked.push([kind, wanted, userId]);
      return new Set(kind === 'file' ? [first, second] : []);
    },
    findExisting: async () => new Set(),
  };
  return { asked, links };
}

describe('links of a request', () => {
  it('are asked for by kind, and only those of a kind that has any', async () => {
    const { asked, links } = openReader();
    await checkLinks(links, 'ada', { knowledgeIds: [first, second], artifactIds: [], dataLakeId: null });
    expect(asked).toEqual([['file', [first, second], 'ada']]);
  });

  it.each([
    ['file', { knowledgeIds: [first, unknown] }, `File ${unknown}`],
    ['artifact', { artifactIds: [first] }, `Artifact ${first}`],
    ['agent', { agentIds: [unknown] }, `Agent ${unknown}`],
    ['data lake', { dataLakeId: unknown }, `Data lake ${unknown}`],
  ])('are refused with the first %s that the user cannot read', async (_, wanted, name) => {
    await expect(checkLinks(openReader().links, 'ada', wanted)).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining(name),
    });
  });

  it('are refused without a look and without a quote where they are no ids', async () => {
    const { asked, links } = openReader();
    const refused = checkLinks(links, 'ada', { knowledgeIds: ['<script>', first] });
    await expect(refused).rejects.toMatchObject({
      status: 404,
      message: expect.not.stringContaining('script'),
    });
    expect(asked).toEqual([['file', [first], 'ada']]);
  });

  it('name a data lake only if there is one', () => {
    expect([toLinks({}), toLinks({ dataLakeId: null }), toLinks({ dataLakeId: first })]).toMatchObject([
      { 'data lake': [] },
      { 'data lake': [] },
      { 'data lake': [first] },
    ]);
  });
});

describe('links after a change', () => {
  it('are the wanted ones that are known, in their order, and those that the user may not remove', () => {
    const merge = { current: ['a', 'b', 'c'], wanted: ['d', 'c', 'x'], added: ['d', 'e'] };
    expect(mergeLinks({ ...merge, mayRemove: () => true })).toEqual(['d', 'c']);
    expect(mergeLinks({ ...merge, mayRemove: (id) => id === 'a' })).toEqual(['d', 'c', 'b']);
  });
});
