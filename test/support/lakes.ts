import { createDemoProvider, LAKE_FILES } from '@questline/core';
import type { World, WorldOptions } from './world.ts';

const PATH = '/api/v1/data-lakes';

/** A world with data lakes, and the offline embedding model. */
export const withLakes = (options: WorldOptions = {}): WorldOptions => ({
  models: [createDemoProvider()],
  ...options,
  settings: { ...options.settings, admin: { EnableDataLakes: true, ...options.settings?.admin } },
});

/** @returns the lake's id. */
export async function makeLake(world: World, wish: object = { name: 'Papers' }): Promise<string> {
  const answer = await world.ask('POST', PATH, { body: wish, credential: await world.token() });
  return ((await answer.json()) as { id: string }).id;
}

/** @returns the file's id. */
export async function saveFile(
  { services, user }: World,
  text: string | Uint8Array,
  { name = 'notes.txt', mimeType = 'text/plain', ownerId = user.id } = {},
): Promise<string> {
  const content = typeof text === 'string' ? Buffer.from(text) : text;
  const { file } = await services.library.save(ownerId, { name, mimeType, content });
  if (file === undefined) throw new Error('the file was not kept');
  return file.id;
}

export async function addToLake(world: World, lakeId: string, fileId: string): Promise<void> {
  const answer = await world.ask('POST', `${PATH}/${lakeId}/files/${fileId}`, {
    credential: await world.token(),
  });
  if (answer.status !== 200) throw new Error(await answer.text());
}

/** Lets the engine work until no file is being read any more. */
export async function ingest(world: World): Promise<void> {
  await world.api.start();
  const files = world.services.store.collection(LAKE_FILES);
  for (let rounds = 0; rounds < 5000; rounds += 1) {
    await world.settle();
    if ((await files.count({ status: 'indexing' })) === 0) return;
  }
  throw new Error('some files are still being read');
}

/** A lake with these texts in it, ready to be searched. */
export async function filledLake(
  world: World,
  texts: Readonly<Record<string, string>>,
  wish?: object,
): Promise<{ lakeId: string; fileIds: Readonly<Record<string, string>> }> {
  const lakeId = await makeLake(world, wish);
  const fileIds: Record<string, string> = {};
  for (const [name, text] of Object.entries(texts)) {
    const fileId = await saveFile(world, text, { name });
    fileIds[name] = fileId;
    await addToLake(world, lakeId, fileId);
  }
  await ingest(world);
  return { lakeId, fileIds };
}
