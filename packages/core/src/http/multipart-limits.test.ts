import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ApiHeaders, ApiRequest } from '../contract/message.ts';
import { readForm, textOfPart } from './multipart.ts';

const TYPE = { 'content-type': 'multipart/form-data; boundary=xyz' };
const FIELD = '--xyz\r\nContent-Disposition: form-data; name="a"\r\n\r\n';

function createRequest(chunks: Iterable<string>, headers: ApiHeaders = TYPE) {
  const events: string[] = [];
  async function* stream() {
    try {
      for (const chunk of chunks) {
        events.push('read');
        yield Buffer.from(chunk);
      }
    } finally {
      await turn();
      events.push('closed');
    }
  }
  return { request: { headers, body: { stream } } as unknown as ApiRequest, events };
}

/** @returns the parts with their chunks. */
async function readParts(chunks: Iterable<string>, headers?: ApiHeaders) {
  const parts = [];
  for await (const { body, ...about } of readForm(createRequest(chunks, headers).request)) {
    const texts: string[] = [];
    for await (const chunk of body) texts.push(Buffer.from(chunk).toString());
    parts.push({ ...about, texts });
  }
  return parts;
}

const malformed = (what: string) => ({ status: 400, message: `the form is malformed: ${what}` });

describe('the stream of a form', () => {
  it('is closed at the end of the form', async () => {
    const { request, events } = createRequest([`${FIELD}1\r\n--xyz--`, 'epilogue']);
    for await (const { body } of readForm(request)) for await (const _ of body);
    expect(events).toEqual(['read', 'closed']);
  });

  it('is closed when its reader stops', async () => {
    const { request, events } = createRequest([`${FIELD}1`, '\r\n--xyz--']);
    for await (const _ of readForm(request)) break;
    expect(events).toEqual(['read', 'closed']);
  });

  it('is closed when the form is malformed', async () => {
    const { request, events } = createRequest(['--xyz??', 'more']);
    await expect(readForm(request).next()).rejects.toMatchObject(
      malformed('a delimiter is followed by something else'),
    );
    expect(events).toEqual(['read', 'closed']);
  });
});

describe('the limits of a form', () => {
  it('are 100 parts', async () => {
    const form = (count: number) => `${`${FIELD}1\r\n`.repeat(count)}--xyz--`;
    expect(await readParts([form(100)])).toHaveLength(100);
    await expect(readParts([form(101)])).rejects.toMatchObject(malformed('more than 100 parts'));
  });

  it('are about 8 KiB before the first part', async () => {
    const form = (length: number) => `${'x'.repeat(length)}\r\n${FIELD}1\r\n--xyz--`;
    expect(await readParts([form(8190)])).toHaveLength(1);
    await expect(readParts([form(8191)])).rejects.toMatchObject(
      malformed('too much stands before the first part'),
    );
  });

  it.each([[[4096, 4096]], [[8192]]])('are 8 KiB for the head of a part, in chunks of %j', async (sizes) => {
    const head = 'Content-Disposition: form-data; name="a"; x="';
    const texts = sizes.map((size, at) => (at === 0 ? head.padEnd(size, 'x') : 'x'.repeat(size)));
    const chunks = (more: string) => ['--xyz\r\n', ...texts, `${more}\r\n\r\n1\r\n--xyz--`];
    expect(await readParts(chunks(''))).toMatchObject([{ name: 'a', texts: ['1'] }]);
    await expect(readParts(chunks('x'))).rejects.toMatchObject(malformed('the head of a part is too long'));
    await expect(readParts([chunks('x').join('')])).rejects.toMatchObject(
      malformed('the head of a part is too long'),
    );
  });

  it('end the reading of a head without end', async () => {
    const { request, events } = createRequest([
      '--xyz\r\n',
      ...Array.from({ length: 100 }, () => 'x'.repeat(1024)),
    ]);
    await expect(readForm(request).next()).rejects.toMatchObject(malformed('the head of a part is too long'));
    expect(events).toHaveLength(11);
  });

  it('are those of a field, in which its name is cut', async () => {
    const name = 'n'.repeat(101);
    const form = `--xyz\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`;
    const read = async (limit: number) => {
      for await (const part of readForm(createRequest([`${form}12`, '34', '5\r\n--xyz--']).request)) {
        return await textOfPart(part, limit);
      }
      return undefined;
    };
    expect(await read(5)).toBe('12345');
    await expect(read(4)).rejects.toMatchObject(
      malformed(`the field ${'n'.repeat(100)} is longer than 4 bytes`),
    );
  });
});

describe('a part of a form', () => {
  const readOne = async (head: string) => (await readParts([`--xyz\r\n${head}\r\n\r\n\r\n--xyz--`]))[0];

  it('has no chunk if it is empty, and no empty chunk', async () => {
    expect(await readOne('Content-Disposition: form-data; name="a"')).toEqual({
      ...{ name: 'a', filename: undefined, contentType: undefined, texts: [] },
    });
    // The delimiter has seven bytes: of a chunk of six, all could be its beginning.
    const parts = await readParts([`${FIELD}`, '123456', '7', '89\r', '\n--xyz--']);
    expect(parts[0]?.texts).toEqual(['1', '234', '56789']);
  });

  it('has the type and the names of its head', async () => {
    expect(
      await readOne('CONTENT-TYPE :image/png \r\ncontent-disposition: form-data; NAME=a; filename=b.png'),
    ).toEqual({
      ...{ name: 'a', filename: 'b.png', contentType: 'image/png', texts: [] },
    });
    expect(
      await readOne('Content-Disposition: Form-Data; name="%22a%0D%0A%22%22"; filename=""'),
    ).toMatchObject({
      ...{ name: '"a\r\n""', filename: '' },
    });
    expect(await readOne('Content-Disposition: form-data; name="a"; name="b"; X: y')).toMatchObject({
      name: 'a',
    });
  });

  it.each([
    '',
    'Content-Disposition: form-data',
    'Content-Disposition: attachment; name="a"',
    'X: form-data; name="a"',
  ])('needs a name, unlike %s', async (head) => {
    await expect(readOne(head)).rejects.toMatchObject(malformed('a part has no name'));
  });
});

describe('the headers of a form', () => {
  const form = [`${FIELD}1\r\n--xyz--`];

  it('may have no encoding but identity', async () => {
    expect(await readParts(form, { ...TYPE, 'content-encoding': 'identity' })).toHaveLength(1);
    await expect(readParts(form, { ...TYPE, 'content-encoding': 'gzip' })).rejects.toMatchObject(
      malformed('Content-Encoding is not supported'),
    );
  });

  it.each(['multipart/form-data; charset=x; boundary="xyz"', 'Multipart/Form-Data;boundary=xyz'])(
    'may be %s',
    async (type) => {
      expect(await readParts(form, { 'content-type': type })).toHaveLength(1);
    },
  );

  it('have a boundary', async () => {
    for (const headers of [{}, { 'content-type': 'multipart/form-data; boundary=""' }]) {
      await expect(readParts(form, headers)).rejects.toMatchObject({
        status: 400,
        message: 'Content-Type must be multipart/form-data with a boundary',
      });
    }
  });
});
