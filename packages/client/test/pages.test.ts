import { type Client, entries, pages } from '@questline/client';
import * as operations from '@questline/client/operations';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createTestApp } from '../../../test/support/test-app.ts';
import { createAppClient, createScriptedClient, json } from './support.ts';

const COUNT = 7;
const NAMES = Array.from({ length: COUNT }, (_, index) => `n${index}`);

async function createClients(): Promise<{ readonly key: Client; readonly user: Client }> {
  const app = await createTestApp({
    key: { scopes: ['notebooks:read', 'notebooks:write', 'ai:generate'] },
  });
  onTestFinished(() => app.api.close());
  return { key: createAppClient(app), user: createAppClient(app, { credential: await app.token() }) };
}

async function take<T>(all: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of all) found.push(one);
  return found;
}

describe('entries', () => {
  it('reads all pages of a list with a cursor', async () => {
    const { key } = await createClients();
    for (const name of NAMES) await key.call(operations.createSession, { body: { name } });
    const found = await take(entries(key, operations.listSessions, { query: { limit: 2 } }));
    expect(found.map(({ name }) => name)).toEqual([...NAMES].reverse());
    const sizes = await take(pages(key, operations.listSessions, { query: { limit: 2 } }));
    expect(sizes.map(({ data }) => data.length)).toEqual([2, 2, 2, 1]);
  });

  it('reads all pages of a list with numbers', async () => {
    const { user } = await createClients();
    for (const name of NAMES) await user.call(operations.createOrganization, { body: { name } });
    const found = await take(
      entries(user, operations.listOrganizations, { query: { limit: 3, order: 'asc', sort: 'name' } }),
    );
    expect(found.map(({ name }) => name)).toEqual(NAMES);
    const rest = await take(pages(user, operations.listOrganizations, { query: { limit: 3, page: 2 } }));
    expect(rest.map(({ pagination }) => pagination.page)).toEqual([2, 3]);
  });

  it('reads all pages of a list with brackets', async () => {
    const { key, user } = await createClients();
    for (const name of NAMES) await key.call(operations.createSession, { body: { name } });
    const found = await take(
      entries(user, operations.listApplicationSessions, { query: { 'pagination[limit]': 3 } }),
    );
    expect(found).toHaveLength(COUNT);
  });

  it('reads all pages of a list with an offset', async () => {
    const { key, user } = await createClients();
    for (const title of NAMES)
      await key.call(operations.createArtifact, { body: { title, type: 'html', content: '<p>x</p>' } });
    const found = await take(entries(user, operations.listApplicationArtifacts, { query: { limit: 3 } }));
    expect(found.map(({ title }) => title)).toEqual(NAMES);
  });

  it('asks for no more pages than the reader reads', async () => {
    const page = { data: [{ id: 'a' }, { id: 'b' }], next_cursor: 'c' };
    const { client, sent } = createScriptedClient([json(page), json(page)]);
    for await (const { id } of entries(client, operations.listSessions)) if (id === 'b') break;
    expect(sent).toHaveLength(1);
  });

  it('ends at an empty page', async () => {
    const pagination = {
      page: 1,
      limit: 1,
      total: 0,
      pages: 0,
      totalPages: 0,
      hasNext: true,
      hasPrev: false,
    };
    const { client, sent } = createScriptedClient([json({ organizations: [], pagination })]);
    expect(await take(entries(client, operations.listOrganizations))).toEqual([]);
    expect(sent).toHaveLength(1);
  });
});
