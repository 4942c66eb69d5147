import { type Client, must } from './client.ts';
import { type Scenario, until } from './scenario.ts';
import type { Regular } from './workload.ts';

const TEXT =
  'Lighthouses warn ships of rocks. The keeper climbs the stairs each evening and lights the lamp. ';
const SEARCH = { query: 'Who lights the lamp?', top_k: 5 };

async function fill(client: Client, { key }: Regular): Promise<{ lake: string; file: string }> {
  const credential = key;
  const content = Buffer.from(TEXT.repeat(20));
  const about = { file_name: 'keeper.txt', mime_type: 'text/plain', file_size: content.length };
  const file = must(
    await client.ask<{ id: string; upload_url: string }>('POST', '/api/v1/files', {
      credential,
      body: about,
    }),
  );
  must(
    await client.ask('PUT', file.upload_url, { body: content, headers: { 'content-type': 'text/plain' } }),
  );
  await until(async () => {
    const known = must(
      await client.ask<{ moderation_status: string }>('GET', `/api/v1/files/${file.id}`, { credential }),
    );
    return known.moderation_status === 'clean' || undefined;
  });
  const body = { name: `Lake ${file.id}` };
  const lake = must(await client.ask<{ id: string }>('POST', '/api/v1/data-lakes', { credential, body }));
  const path = `/api/v1/data-lakes/${lake.id}/files/${file.id}`;
  must(await client.ask('POST', path, { credential, body: {} }));
  await until(async () => {
    const known = must(await client.ask<{ ingestion_status: string }>('GET', path, { credential }));
    return known.ingestion_status === 'ready' || undefined;
  });
  return { lake: lake.id, file: file.id };
}

async function search(client: Client, { key }: Regular, lake: string): Promise<string> {
  const request = { credential: key, body: SEARCH };
  const { results } = must(
    await client.ask<{ results: unknown[] }>('POST', `/api/v1/data-lakes/${lake}/search`, request),
  );
  if (results.length === 0) throw new Error('the search found nothing');
  return 'found';
}

/** Each user has one lake. */
export const searchLake: Scenario['run'] = async ({ client, lakes }, person) => {
  const known = lakes.get(person.id) ?? fill(client, person).then(({ lake }) => lake);
  lakes.set(person.id, known);
  return search(client, person, await known);
};

export const makeLake: Scenario['run'] = async ({ client }, person) => {
  const { lake, file } = await fill(client, person);
  await search(client, person, lake);
  must(await client.ask('DELETE', `/api/v1/data-lakes/${lake}`, { credential: person.key }));
  must(await client.ask('DELETE', `/api/v1/files/${file}`, { credential: person.key }));
  return 'drained';
};
