import { must } from './client.ts';
import { type Errand, endOfQuest, forget, newSession, until } from './errand.ts';
import { lookInLake, makeLake } from './lakes.ts';

export const belongings: readonly Errand[] = [
  {
    name: 'file',
    weight: 7,
    async run({ client }, { key }, random) {
      const wish = { credential: key };
      const content = Buffer.alloc(1 + random.below(200_000), 'All lighthouses are white. ');
      const about = { file_name: 'note.txt', mime_type: 'text/plain', file_size: content.length };
      const file = must(
        await client.ask<{ id: string; upload_url: string }>('POST', '/api/v1/files', {
          ...wish,
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
          await client.ask<{ download_url: string | null }>('GET', `/api/v1/files/${file.id}`, wish),
        );
        return known.download_url ?? undefined;
      });
      note(client.secrets, address);
      const { bytes } = await client.ask('GET', address);
      if (!bytes.equals(content)) throw new Error('the file came back as another one');
      must(await client.ask('DELETE', `/api/v1/files/${file.id}`, wish));
      return 'there and back';
    },
  },
  { name: 'search of a lake', weight: 8, run: lookInLake },
  { name: 'lake', weight: 1, run: makeLake },
  {
    name: 'session',
    weight: 8,
    async run(town, person) {
      const { client } = town;
      const wish = { credential: person.key };
      const id = await newSession(town, person);
      must(await client.ask('PUT', `/api/sessions/${id}`, { ...wish, body: { name: 'Renamed' } }));
      const clone = must(
        await client.ask<{ id: string }>('POST', `/api/v1/sessions/${id}/clone`, { ...wish, body: {} }),
      );
      must(await client.ask('GET', '/api/v1/sessions?limit=20', wish));
      for (const one of [id, clone.id]) await forget(town, person, one);
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
    async run(town, person) {
      const body = { model: 'demo-image', prompt: 'A lighthouse' };
      const { id, sessionId } = must(
        await town.client.ask<{ id: string; sessionId: string }>('POST', '/api/v1/image-generations', {
          credential: person.key,
          body,
        }),
      );
      const end = await endOfQuest(town, person, id);
      await forget(town, person, sessionId);
      return end;
    },
  },
  {
    name: 'film',
    weight: 1,
    async run({ client }, { key }, random) {
      const wish = { credential: key };
      const body = { model: 'demo-video', prompt: 'A lighthouse' };
      const { id } = must(
        await client.ask<{ id: string }>('POST', '/api/v1/video-generations', { ...wish, body }),
      );
      const path = `/api/v1/video-generations/${id}`;
      if (random.chance(0.3)) must(await client.ask('POST', `${path}/cancel`, { ...wish, body: {} }));
      return until(async () => {
        const { state } = must(await client.ask<{ state: string }>('GET', path, wish));
        if (state === 'failed') throw new Error('the film failed');
        return ['succeeded', 'cancelled'].find((one) => one === state);
      }, 1000);
    },
  },
];

/** The signature of an address is a credential. */
function note(secrets: Set<string>, address: string): void {
  for (const value of new URL(address, 'http://localhost').searchParams.values()) {
    if (value.length >= 16) secrets.add(value);
  }
}
