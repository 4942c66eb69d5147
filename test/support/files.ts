import { setImmediate as turn } from 'node:timers/promises';
import { FILE_USAGE, FILES, type FileRecord, toFetchHandler } from '@questline/core';
import { createWorld, type World, type WorldOptions } from './world.ts';

/** A world whose engine runs, with a key that may do everything with files. */
export interface FileWorld extends World {
  /** The file's record, whatever its state. */
  record(id: string): Promise<FileRecord | undefined>;
  /** Bytes counted to the first user. */
  usage(): Promise<number>;
  announce(file: Partial<Announced>): Promise<{ readonly id: string; readonly url: string }>;
  /** Sends bytes to an address, without any credential. @returns the status. */
  put(url: string, bytes: Uint8Array, type?: string): Promise<number>;
  /** Announces, uploads, and waits until it has been decided about. @returns the file as the api shows it. */
  upload(bytes: Uint8Array | string, file?: Partial<Announced>): Promise<ShownFile>;
  show(id: string): Promise<ShownFile>;
  /** Waits for a condition, letting time pass a second at a time when `passing`. */
  until(condition: () => Promise<boolean>, passing?: boolean): Promise<void>;
  /** Follows a link as a browser would. */
  follow(url: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
}

interface Announced {
  readonly file_name: string;
  readonly mime_type: string;
  readonly file_size: number;
}

// biome-ignore lint/suspicious/noExplicitAny: what came over the wire is looked at, not trusted.
type ShownFile = Record<string, any>;

export async function createFileWorld(options: WorldOptions = {}): Promise<FileWorld> {
  const world = await createWorld({
    ...options,
    key: { scopes: ['files:write', 'ai:chat'], requestsPerMinute: 10_000, ...options.key },
  });
  await world.api.start();
  const handle = toFetchHandler(world.api);
  const { store } = world.services;

  const follow: FileWorld['follow'] = async (url, headers = {}) => {
    const response = await handle(new Request(new URL(url, 'http://questline.test'), { headers }));
    return response ?? new Response('not ours', { status: 599 });
  };

  const put: FileWorld['put'] = async (url, bytes, type = 'text/plain') => {
    const request = new Request(new URL(url, 'http://questline.test'), {
      method: 'PUT',
      headers: { 'Content-Type': type },
      body: Uint8Array.from(bytes),
    });
    return (await handle(request))?.status ?? 599;
  };

  const announce: FileWorld['announce'] = async (file) => {
    const body = { file_name: 'a.txt', mime_type: 'text/plain', file_size: 5, ...file };
    const answer = await world.ask('POST', '/api/v1/files', { body });
    const { id, upload_url: url } = (await answer.json()) as { id: string; upload_url: string };
    if (answer.status !== 201) throw new Error(`the file was not accepted: ${answer.status}`);
    return { id, url };
  };

  const show: FileWorld['show'] = async (id) =>
    (await (await world.ask('GET', `/api/v1/files/${id}`)).json()) as ShownFile;

  const until: FileWorld['until'] = async (condition, passing = false) => {
    while (!(await condition())) {
      if (passing) await world.clock.advance(1000);
      await turn();
    }
  };

  const record: FileWorld['record'] = (id) => store.collection(FILES).get(id);

  return {
    ...world,
    follow,
    put,
    announce,
    show,
    until,
    record,
    usage: async () => (await store.collection(FILE_USAGE).get(world.user.id))?.bytes ?? 0,
    async upload(content, file = {}) {
      const bytes = Buffer.from(content);
      const { id, url } = await announce({ file_size: bytes.length, ...file });
      const status = await put(url, bytes, file.mime_type);
      if (status !== 204) throw new Error(`the upload was not accepted: ${status}`);
      await until(async () => ['clean', 'blocked'].includes((await record(id))?.status ?? ''), true);
      return show(id);
    },
  };
}
