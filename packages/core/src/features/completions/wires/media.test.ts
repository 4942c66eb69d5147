import { describe, expect, it } from 'vitest';
import type { CatalogueEntry } from '../../../models/catalogue.ts';
import { WebToolError, type WebTools } from '../../../ports/web.ts';
import { createMediaLoader, type MediaServices } from './media.ts';

const MIB = 2 ** 20;
const URL = 'https://pictures.example/a';
const PATH = 'messages[0]';
const issue = (path: string, message: string) => Object.assign(new Error(`${path}: ${message}`), { path });

interface Options {
  readonly fetchFile?: WebTools['fetchFile'] | undefined;
  readonly files?: MediaServices['files'];
  readonly signal?: AbortSignal;
}

function open({ fetchFile, files, signal = new AbortController().signal }: Options) {
  const services = { web: { ...(fetchFile && { fetchFile }) } as WebTools, files: files ?? none };
  const entry = { info: { id: 'm' } } as CatalogueEntry;
  return createMediaLoader(services, entry, { userId: 'ada', signal, issue: issue as never });
}

const none: MediaServices['files'] = {
  async *contents() {},
  convert: async (_userId, { contentType, data, name }) => ({
    content: { type: 'document', mediaType: contentType, data, name },
  }),
};
const of = (mediaType: string, bytes = 1): WebTools['fetchFile'] => {
  return async () => ({ mediaType, data: new Uint8Array(bytes) }) as never;
};
const fail = (error: unknown): WebTools['fetchFile'] => {
  return () => Promise.reject(error);
};

describe('image of a conversation', () => {
  it('is fetched with its type, the signal of the client and the bytes that are left', async () => {
    const calls: unknown[] = [];
    const { signal } = new AbortController();
    const { image } = open({
      signal,
      async fetchFile(...given) {
        calls.push(given);
        return { mediaType: 'Image/PNG; charset=x', data: new Uint8Array([1, 2]) } as never;
      },
    });
    expect(await image(URL, PATH)).toEqual({ type: 'image', mediaType: 'image/png', data: 'AQI=' });
    await image(URL, PATH);
    expect(calls).toEqual([
      [URL, { accept: ['image/'], maxBytes: 25 * MIB }, { signal }],
      [URL, { accept: ['image/'], maxBytes: 25 * MIB - 2 }, { signal }],
    ]);
  });

  it('may be in the request', async () => {
    const image = await open({}).image('DATA:image/gif;base64,AQI=', PATH);
    expect(image).toEqual({ type: 'image', mediaType: 'image/gif', data: 'AQI=' });
  });

  it.each([
    ['http://a.example', {}, 'expected an https URL or data in base64'],
    [URL, {}, 'this server cannot fetch URLs; send the data'],
    [URL, { fetchFile: of('image/tiff') }, 'expected an image of type png, jpeg, webp or gif'],
    ['data:image/tiff;base64,AQI=', {}, 'expected an image of type png, jpeg, webp or gif'],
    [URL, { fetchFile: fail(new WebToolError('FAILED' as never, 'url: not found')) }, 'not found'],
  ])('is refused: %s %#', async (url, options, message) => {
    await expect(open(options).image(url, PATH)).rejects.toThrow(`${PATH}: ${message}`);
  });

  it('is one of 20 at most that are fetched', async () => {
    const { image } = open({ fetchFile: of('image/png') });
    for (let at = 0; at < 20; at += 1) await image(URL, PATH);
    await expect(image(URL, PATH)).rejects.toThrow('expected at most 20 URLs');
  });

  it('is fetched while the files together are smaller than 25 MiB', async () => {
    const { image } = open({ fetchFile: of('image/png', 25 * MIB) });
    await image(URL, PATH);
    await expect(image(URL, PATH)).rejects.toThrow('the files together are larger than 26214400 bytes');
    const almost = open({ fetchFile: of('image/png', 25 * MIB - 1) });
    await almost.image(URL, PATH);
    await almost.image(URL, PATH);
  });

  it('ends with its client, and passes other failures on', async () => {
    const away = new Error('away');
    await expect(open({ fetchFile: fail(away) }).image(URL, PATH)).rejects.toBe(away);
    const leaving = new AbortController();
    const gone = new Error('gone');
    const { image } = open({
      signal: leaving.signal,
      fetchFile() {
        leaving.abort(gone);
        return Promise.reject(new WebToolError('FAILED' as never, 'url: aborted'));
      },
    });
    await expect(image(URL, PATH)).rejects.toBe(gone);
  });
});

describe('document of a conversation', () => {
  const PDF = { type: 'document', name: 'a.pdf', mediaType: 'application/pdf', data: 'AA==' };

  it('is fetched, with its name', async () => {
    const accepted: unknown[] = [];
    const { document } = open({
      async fetchFile(_url, { accept }) {
        accepted.push(accept);
        return { mediaType: 'application/pdf', data: new Uint8Array(1) };
      },
    });
    expect(await document(URL, 'a.pdf', PATH)).toEqual(PDF);
    expect(accepted).toEqual([['application/', 'text/']]);
  });

  it('may be in the request, as may an image', async () => {
    const { inline, sent } = open({});
    expect(await inline('data:application/pdf;base64,AA==', 'a.pdf', PATH)).toEqual(PDF);
    expect(await sent({ contentType: 'application/pdf', data: 'AA==', name: 'a.pdf' }, PATH)).toEqual(PDF);
    expect(await inline('data:Image/PNG;base64,AA==', 'a.png', PATH)).toEqual({
      ...{ type: 'image', mediaType: 'image/png', data: 'AA==' },
    });
    await expect(inline('AA==', 'a.pdf', PATH)).rejects.toThrow(`${PATH}: expected a data URL`);
  });

  it('is converted for its user, the model and the client', async () => {
    const calls: unknown[] = [];
    const { signal } = new AbortController();
    const files: MediaServices['files'] = {
      ...none,
      async convert(...given) {
        calls.push(given);
        return { refusal: 'a.csv is damaged.' };
      },
    };
    const { inline } = open({ files, signal });
    await expect(inline('data:text/csv;charset=latin1;base64,AA==', 'a.csv', PATH)).rejects.toThrow(
      `${PATH}: a.csv is damaged.`,
    );
    const sent = { contentType: 'text/csv;charset=latin1', data: 'AA==', name: 'a.csv' };
    expect(calls).toEqual([['ada', sent, { id: 'm' }, { signal }]]);
  });
});

describe('stored file of a conversation', () => {
  const content = [{ type: 'text', text: 'deep' }] as const;

  it('is read for its owner, the model and the client', async () => {
    const calls: unknown[] = [];
    const { signal } = new AbortController();
    const files: MediaServices['files'] = {
      ...none,
      async *contents(...given) {
        calls.push(given);
        yield { content };
      },
    };
    expect(await open({ files, signal }).stored('f1', PATH)).toBe(content);
    expect(calls).toEqual([['ada', ['f1'], { id: 'm' }, { signal }]]);
  });

  it.each([
    ['a reason', [{ content: undefined, refusal: 'is blocked' }], 'is blocked'],
    ['no reason', [{ content: undefined }], 'no file that you and this model can read has this id'],
    ['no file', [], 'no file that you and this model can read has this id'],
  ])('is refused with %s', async (_title, found, message) => {
    const files: MediaServices['files'] = {
      ...none,
      async *contents() {
        yield* found;
      },
    };
    await expect(open({ files }).stored('f1', PATH)).rejects.toThrow(`${PATH}: ${message}`);
  });

  it('is one of 50 at most', async () => {
    const files: MediaServices['files'] = {
      ...none,
      async *contents() {
        yield { content };
      },
    };
    const { stored } = open({ files });
    for (let at = 0; at < 50; at += 1) await stored('f1', PATH);
    await expect(stored('f1', PATH)).rejects.toThrow('expected at most 50 files');
  });
});
