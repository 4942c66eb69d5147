import { createDemoProvider } from '@questline/core';
import { LAKE_FILES } from '@questline/core/internal';
import type { TestApp, TestAppOptions } from './test-app.ts';

const PATH = '/api/v1/data-lakes';

/** Options for an app with data lakes and the offline embedding model. */
export const withLakes = (options: TestAppOptions = {}): TestAppOptions => ({
  models: [createDemoProvider()],
  ...options,
  settings: { ...options.settings, admin: { EnableDataLakes: true, ...options.settings?.admin } },
});

/** @returns the lake's id. */
export async function makeLake(app: TestApp, input: object = { name: 'Papers' }): Promise<string> {
  const answer = await app.ask('POST', PATH, { body: input, credential: await app.token() });
  return ((await answer.json()) as { id: string }).id;
}

/** @returns the file's id. */
export async function saveFile(
  { services, user }: TestApp,
  text: string | Uint8Array,
  { name = 'notes.txt', mimeType = 'text/plain', ownerId = user.id } = {},
): Promise<string> {
  const content = typeof text === 'string' ? Buffer.from(text) : text;
  const { file } = await services.library.save(ownerId, { name, mimeType, content });
  if (file === undefined) throw new Error('the file was not stored');
  return file.id;
}

export async function addToLake(app: TestApp, lakeId: string, fileId: string): Promise<void> {
  const answer = await app.ask('POST', `${PATH}/${lakeId}/files/${fileId}`, {
    credential: await app.token(),
  });
  if (answer.status !== 200) throw new Error(await answer.text());
}

/** Runs the worker until all files are ingested. */
export async function ingest(app: TestApp): Promise<void> {
  await app.api.start();
  const files = app.services.store.collection(LAKE_FILES);
  for (let rounds = 0; rounds < 5000; rounds += 1) {
    await app.settle();
    if ((await files.count({ status: 'indexing' })) === 0) return;
  }
  throw new Error('some files are still being ingested');
}

/** A searchable lake with these texts. */
export async function filledLake(
  app: TestApp,
  texts: Readonly<Record<string, string>>,
  input?: object,
): Promise<{ lakeId: string; fileIds: Readonly<Record<string, string>> }> {
  const lakeId = await makeLake(app, input);
  const fileIds: Record<string, string> = {};
  for (const [name, text] of Object.entries(texts)) {
    const fileId = await saveFile(app, text, { name });
    fileIds[name] = fileId;
    await addToLake(app, lakeId, fileId);
  }
  await ingest(app);
  return { lakeId, fileIds };
}
