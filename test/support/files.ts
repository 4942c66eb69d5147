import { setImmediate as turn } from 'node:timers/promises';
import { toFetchHandler } from '@questline/core';
import { FILE_USAGE, FILES, type FileRecord } from '@questline/core/internal';
import type { AnswerBody } from './answers.ts';
import { createTestApp, type TestApp, type TestAppOptions } from './test-app.ts';

/** An app with a running worker and a key with all file scopes. */
export interface FileApp extends TestApp {
  /** The record of a file in any state. */
  record(id: string): Promise<FileRecord | undefined>;
  /** Stored bytes of the first user. */
  usage(): Promise<number>;
  announce(file: Partial<Announced>): Promise<{ readonly id: string; readonly url: string }>;
  /** Uploads bytes to an address without credentials. @returns the status. */
  put(url: string, bytes: Uint8Array, type?: string): Promise<number>;
  /** Announces and uploads a file, and waits for its check. @returns the file as the API returns it. */
  upload(bytes: Uint8Array | string, file?: Partial<Announced>): Promise<ShownFile>;
  show(id: string): Promise<ShownFile>;
  /** Waits for a condition; with `passing`, advances the clock in steps of a second. */
  until(condition: () => Promise<boolean>, passing?: boolean): Promise<void>;
  /** Follows a link as a browser does. */
  follow(url: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
}

interface Announced {
  readonly file_name: string;
  readonly mime_type: string;
  readonly file_size: number;
}

type ShownFile = AnswerBody<'GET', `/api/v1/files/${string}`>;

export async function createFileApp(options: TestAppOptions = {}): Promise<FileApp> {
  const app = await createTestApp({
    ...options,
    key: { scopes: ['files:write', 'ai:chat'], requestsPerMinute: 10_000, ...options.key },
  });
  await app.api.start();
  const handle = toFetchHandler(app.api);
  const { store } = app.services;

  const follow: FileApp['follow'] = async (url, headers = {}) => {
    const response = await handle(new Request(new URL(url, 'http://questline.test'), { headers }));
    return response ?? new Response('not ours', { status: 599 });
  };

  const put: FileApp['put'] = async (url, bytes, type = 'text/plain') => {
    const request = new Request(new URL(url, 'http://questline.test'), {
      method: 'PUT',
      headers: { 'Content-Type': type },
      body: Uint8Array.from(bytes),
    });
    return (await handle(request))?.status ?? 599;
  };

  const announce: FileApp['announce'] = async (file) => {
    const body = { file_name: 'a.txt', mime_type: 'text/plain', file_size: 5, ...file };
    const answer = await app.ask('POST', '/api/v1/files', { body });
    const { id, upload_url: url } = (await answer.json()) as { id: string; upload_url: string };
    if (answer.status !== 201) throw new Error(`the file was rejected: ${answer.status}`);
    return { id, url };
  };

  const show: FileApp['show'] = async (id) =>
    (await (await app.ask('GET', `/api/v1/files/${id}`)).json()) as ShownFile;

  const until: FileApp['until'] = async (condition, passing = false) => {
    while (!(await condition())) {
      if (passing) await app.clock.advance(1000);
      await turn();
    }
  };

  const record: FileApp['record'] = (id) => store.collection(FILES).get(id);

  return {
    ...app,
    follow,
    put,
    announce,
    show,
    until,
    record,
    usage: async () => (await store.collection(FILE_USAGE).get(app.user.id))?.bytes ?? 0,
    async upload(content, file = {}) {
      const bytes = Buffer.from(content);
      const { id, url } = await announce({ file_size: bytes.length, ...file });
      const status = await put(url, bytes, file.mime_type);
      if (status !== 204) throw new Error(`the upload was rejected: ${status}`);
      await until(async () => ['clean', 'blocked'].includes((await record(id))?.status ?? ''), true);
      return show(id);
    },
  };
}
