import { must } from './client.ts';
import { makeLake, searchLake } from './lakes.ts';
import { endOfQuest, forget, newSession, type Scenario, until } from './scenario.ts';

export const ownedResources: readonly Scenario[] = [
  {
    name: 'file',
    weight: 7,
    async run({ client }, { key }, random) {
      const request = { credential: key };
      const content = Buffer.alloc(1 + random.below(200_000), 'All lighthouses are white. ');
      const about = { file_name: 'note.txt', mime_type: 'text/plain', file_size: content.length };
      const file = must(
        await client.ask<{ id: string; upload_url: string }>('POST', '/api/v1/files', {
          ...request,
          body: about,
        }),
      );
      note(client.secrets, file.upload_url);
      must(
        await client.ask('PUT', file.upload_url, {
          body: content,
          headers: { 'content-type': 'text/plain' },
        }),
      );
      const address = await until(async () => {
        const known = must(
          await client.ask<{ download_url: string | null }>('GET', `/api/v1/files/${file.id}`, request),
        );
        return known.download_url ?? undefined;
      });
      note(client.secrets, address);
      const { bytes } = await client.ask('GET', address);
      if (!bytes.equals(content)) throw new Error('the downloaded file differs');
      must(await client.ask('DELETE', `/api/v1/files/${file.id}`, request));
      return 'upload and download';
    },
  },
  { name: 'data lake search', weight: 8, run: searchLake },
  { name: 'lake', weight: 1, run: makeLake },
  {
    name: 'session',
    weight: 8,
    async run(workload, person) {
      const { client } = workload;
      const request = { credential: person.key };
      const id = await newSession(workload, person);
      must(await client.ask('PUT', `/api/sessions/${id}`, { ...request, body: { name: 'Renamed' } }));
      const clone = must(
        await client.ask<{ id: string }>('POST', `/api/v1/sessions/${id}/clone`, { ...request, body: {} }),
      );
      must(await client.ask('GET', '/api/v1/sessions?limit=20', request));
      for (const one of [id, clone.id]) await forget(workload, person, one);
      return 'deleted';
    },
  },
  {
    name: 'embedding',
    weight: 4,
    async run({ client }, { key }) {
      const body = { model: 'demo-embedding', input: ['lighthouse', 'ship'] };
      must(await client.ask('POST', '/api/v1/embeddings', { credential: key, body }));
      return 'done';
    },
  },
  {
    name: 'image',
    weight: 2,
    async run(workload, person) {
      const body = { model: 'demo-image', prompt: 'A lighthouse' };
      const { id, sessionId } = must(
        await workload.client.ask<{ id: string; sessionId: string }>('POST', '/api/v1/image-generations', {
          credential: person.key,
          body,
        }),
      );
      const end = await endOfQuest(workload, person, id);
      await forget(workload, person, sessionId);
      return end;
    },
  },
  {
    name: 'video',
    weight: 1,
    async run({ client }, { key }, random) {
      const request = { credential: key };
      const body = { model: 'demo-video', prompt: 'A lighthouse' };
      const { id } = must(
        await client.ask<{ id: string }>('POST', '/api/v1/video-generations', { ...request, body }),
      );
      const path = `/api/v1/video-generations/${id}`;
      if (random.chance(0.3)) must(await client.ask('POST', `${path}/cancel`, { ...request, body: {} }));
      return until(async () => {
        const { state } = must(await client.ask<{ state: string }>('GET', path, request));
        if (state === 'failed') throw new Error('the video failed');
        return ['succeeded', 'cancelled'].find((one) => one === state);
      }, 1000);
    },
  },
];

/** The signature of a link is a credential. */
function note(secrets: Set<string>, address: string): void {
  for (const value of new URL(address, 'http://localhost').searchParams.values()) {
    if (value.length >= 16) secrets.add(value);
  }
}
