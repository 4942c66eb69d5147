import { describe, expect, it } from 'vitest';
import type { Moderator } from '../../ports/moderator.ts';
import { WebToolError } from '../../ports/web.ts';
import type { Incident } from '../../shared/incident.ts';
import type { GeneratedFile, SavedFile } from '../files/library.ts';
import { getFileSettings } from '../files/settings.ts';
import { createSaveUiFiles } from './ui-files.ts';

const MIB = 2 ** 20;
const PATH = 'messages.0.parts.0.url';
const toUrl = (content: string, type = 'text/plain') =>
  `data:${type};base64,${Buffer.from(content).toString('base64')}`;

interface Options {
  readonly moderator?: Moderator | null;
  readonly saved?: SavedFile;
  readonly known?: boolean;
  /** Answers by their URL, or fails. */
  readonly fetched?: Readonly<Record<string, { mediaType: string; data: Uint8Array } | Error>> | null;
}

function setUp({ moderator = null, saved, known = false, fetched = {} }: Options = {}) {
  const saves: [string, GeneratedFile][] = [];
  const fetches: unknown[] = [];
  const incidents: Incident[] = [];
  const library = {
    get: async () => (known ? {} : undefined),
    async save(userId: string, made: GeneratedFile) {
      saves.push([userId, made]);
      return saved ?? { file: { status: 'clean' } };
    },
  };
  const web = {
    async fetchFile(url: string, options: { maxBytes: number; accept: readonly string[] }, call: object) {
      fetches.push([url, options, Object.keys(call)]);
      const answer = fetched?.[url];
      if (answer === undefined || answer instanceof Error) throw answer ?? new Error('unknown');
      return answer;
    },
  };
  const save = createSaveUiFiles({
    ...{ library: library as never, web: (fetched === null ? {} : web) as never, moderator },
    adminSettings: { current: async () => ({ MaxFileSize: 100 * MIB }) } as never,
    fileSettings: getFileSettings(),
    onError: (incident) => incidents.push(incident),
  });
  const send = (urls: readonly string[], signal = new AbortController().signal) =>
    save(
      urls.map((url) => ({ url, name: 'a.txt', path: PATH })),
      { userId: 'ada', signal },
    );
  return { send, saves, fetches, incidents };
}

const refusal = (message: string, path = PATH) => ({
  status: 422,
  message: `${path}: ${message}`,
  details: [{ path, message }],
});
const UNAVAILABLE = { status: 503, message: 'The file could not be stored. Try again shortly.' };

describe('the files of a message', () => {
  it('are stored under ids of their own', async () => {
    const { send, saves } = setUp();
    const [one, two, three, four] = await send([
      ...[toUrl('a'), toUrl('b'), toUrl('a', 'text/markdown'), toUrl('a')],
    ]);
    expect(new Set([one, two, three]).size).toBe(3);
    expect([four, one?.length]).toEqual([one, 24]);
    const about = { id: one, name: 'a.txt', mimeType: 'text/plain', source: 'upload' };
    expect(saves[0]).toEqual(['ada', { ...about, content: Buffer.from('a') }]);
  });

  it('that are stored are not stored again', async () => {
    const { send, saves } = setUp({ known: true });
    expect(await send([toUrl('a')])).toHaveLength(1);
    expect(saves).toEqual([]);
  });

  it('may be fetched', async () => {
    const data = Buffer.alloc(5);
    const { send, fetches } = setUp({ fetched: { 'https://a.b': { mediaType: 'image/png', data } } });
    await send(['https://a.b', 'https://a.b']);
    const accept = ['image/', 'text/', 'application/', 'audio/', 'video/'];
    expect(fetches).toEqual([
      ['https://a.b', { accept, maxBytes: 25 * MIB }, ['signal']],
      ['https://a.b', { accept, maxBytes: 25 * MIB - 5 }, ['signal']],
    ]);
  });

  it('are not fetched without access to the web', async () => {
    const { send } = setUp({ fetched: null });
    await expect(send(['https://a.b'])).rejects.toMatchObject(
      refusal('this server cannot fetch URLs; send the data'),
    );
  });

  it('are refused if they cannot be fetched', async () => {
    const { send } = setUp({
      fetched: {
        'https://a.b': new WebToolError('NETWORK_ERROR', 'url: is away'),
        'https://a.c': new Error('x'),
      },
    });
    await expect(send(['https://a.b'])).rejects.toMatchObject(refusal('is away'));
    await expect(send(['https://a.c'])).rejects.toEqual(new Error('x'));
    const stopped = AbortSignal.abort(new Error('stopped'));
    await expect(send(['https://a.b'], stopped)).rejects.toThrow('stopped');
  });

  it('have at most 25 MiB in all', async () => {
    const part = { mediaType: 'text/plain', data: Buffer.alloc(25 * MIB) };
    const { send, saves, fetches } = setUp({ fetched: { 'https://a.b': part } });
    const message = `the files together are larger than ${25 * MIB} bytes`;
    expect(await send(['https://a.b'])).toHaveLength(1);
    await expect(send(['https://a.b', toUrl('a')])).rejects.toMatchObject(refusal(message));
    await expect(send(['https://a.b', 'https://a.b'])).rejects.toMatchObject(refusal(message));
    expect([saves.length, fetches.length]).toEqual([3, 3]);
  });

  it('have types and sizes like uploads', async () => {
    const { send } = setUp();
    await expect(send([toUrl('a', 'application/x-msdownload')])).rejects.toMatchObject(
      refusal('files of this type are not accepted'),
    );
  });

  it.each([
    [{ skipped: 'error' }, UNAVAILABLE],
    [{ skipped: 'storage_limit' }, refusal('the storage quota is used up')],
    [{ skipped: 'file_too_large' }, refusal('is not accepted')],
    [{ file: { status: 'blocked' } }, refusal('is not accepted')],
  ])('are refused if they are not stored: %j', async (saved, refused) => {
    await expect(setUp({ saved: saved as SavedFile }).send([toUrl('a')])).rejects.toMatchObject(refused);
  });
});

describe('the moderation of the files of a message', () => {
  it('sees each of them', async () => {
    let seen: unknown;
    const check: Moderator['check'] = async (file, options) => {
      const parts: Uint8Array[] = [];
      for await (const part of file.stream()) parts.push(part);
      const { name, mimeType, size } = file;
      const read = Buffer.from(await file.read(1, 3)).toString();
      seen = {
        name,
        mimeType,
        size,
        all: Buffer.concat(parts).toString(),
        read,
        given: Object.keys(options ?? {}),
      };
      return { isClean: true };
    };
    await setUp({ moderator: { check } }).send([toUrl('hello')]);
    const about = { name: 'a.txt', mimeType: 'text/plain', size: 5, given: ['signal'] };
    expect(seen).toEqual({ ...about, all: 'hello', read: 'el' });
  });

  it('blocks a file before it is stored, and reports why to the host', async () => {
    const moderator: Moderator = { check: async () => ({ isClean: false, reason: 'no' }) };
    const { send, saves, incidents } = setUp({ moderator });
    await expect(send([toUrl('a')])).rejects.toMatchObject(refusal('is not accepted'));
    const error = new Error('a file of a message was blocked: no');
    expect([saves, incidents]).toEqual([[], [{ operation: 'files.blocked', requestId: '', error }]]);
  });

  it('may fail', async () => {
    const moderator: Moderator = { check: () => Promise.reject(new Error('away')) };
    const { send, saves, incidents } = setUp({ moderator });
    await expect(send([toUrl('a')])).rejects.toMatchObject(UNAVAILABLE);
    const incident = { operation: 'files.moderate', requestId: '', error: new Error('away') };
    expect([saves, incidents]).toEqual([[], [incident]]);
    await expect(send([toUrl('a')], AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
    expect(incidents).toHaveLength(1);
  });
});
