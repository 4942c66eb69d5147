import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApiRequest } from '../contract/message.ts';
import { type FormPart, readForm, textOfPart } from './multipart.ts';

const TYPE = 'multipart/form-data; boundary=xyz';

function toRequest(
  body: Uint8Array | string,
  size = 1000,
  contentType: string | undefined = TYPE,
): ApiRequest {
  const bytes = Buffer.from(body);
  async function* stream() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  return { headers: { 'content-type': contentType }, body: { stream } } as unknown as ApiRequest;
}

async function toBytes({ body }: FormPart): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function readParts(request: ApiRequest) {
  const parts: { name: string; filename: string | undefined; bytes: Buffer }[] = [];
  for await (const part of readForm(request)) {
    parts.push({ name: part.name, filename: part.filename, bytes: await toBytes(part) });
  }
  return parts;
}

const PLAIN =
  'preamble\r\n--xyz\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--xyz\r\n' +
  'content-disposition: form-data; name=file; filename="%22x%22.png"\r\nContent-Type: image/png\r\n\r\n\r\n--xyz--\r\nepilogue';

describe('multipart form', () => {
  it('is delivered before its end', async () => {
    await expect(readParts(toRequest(`${'x'.repeat(8193)}\r\n${PLAIN}`))).rejects.toMatchObject({
      status: 400,
      message: 'the form is malformed: too much stands before the first part',
    });
  });

  it('is parsed equally at any split of its body', async () => {
    const content = fc.uint8Array({ maxLength: 60 });
    const sly = fc
      .constantFrom('\r\n', '\r\n--', '\r\n--xy', '--xyz', '\r\n--xz')
      .map((text) => Buffer.from(text));
    const piece = fc.oneof(content, sly);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(piece, { maxLength: 4 }), { maxLength: 4 }),
        fc.integer({ min: 1, max: 40 }),
        async (contents, size) => {
          const bodies = contents.map((pieces) => Buffer.concat(pieces));
          fc.pre(
            bodies.every(
              (body) =>
                !Buffer.concat([Buffer.from('\r\n'), body, Buffer.from('\r\n--x')]).includes('\r\n--xyz'),
            ),
          );
          const whole = Buffer.concat([
            ...bodies.flatMap((body, at) => [
              Buffer.from(`--xyz\r\nContent-Disposition: form-data; name="part${at}"\r\n\r\n`),
              body,
              Buffer.from('\r\n'),
            ]),
            Buffer.from('--xyz--'),
          ]);
          const parts = await readParts(toRequest(whole, size));
          expect(parts.map(({ name }) => name)).toEqual(bodies.map((_, at) => `part${at}`));
          expect(parts.map(({ bytes }) => bytes.toString('hex'))).toEqual(
            bodies.map((body) => body.toString('hex')),
          );
        },
      ),
    );
  });

  it('can have a preamble, an epilogue, empty parts, and names in the encoding of browsers', async () => {
    expect(await readParts(toRequest(PLAIN, 3))).toEqual([
      { name: 'a', filename: undefined, bytes: Buffer.from('1') },
      { name: 'file', filename: '"x".png', bytes: Buffer.alloc(0) },
    ]);
  });

  it('continues after a part that was not read to its end', async () => {
    const names: string[] = [];
    for await (const { name } of readForm(toRequest(PLAIN, 5))) names.push(name);
    expect(names).toEqual(['a', 'file']);
  });

  it.each([
    ['breaks off in a part', '--xyz\r\nContent-Disposition: form-data; name="a"\r\n\r\n1'],
    ['breaks off in a head', '--xyz\r\nContent-Disposition: form-data; na'],
    ['breaks off after a delimiter', '--xyz'],
    ['is empty', ''],
    ['has a part without a name', '--xyz\r\nContent-Type: text/plain\r\n\r\n1\r\n--xyz--'],
    [
      'has a head that ends too late',
      `--xyz\r\nContent-Disposition: form-data; name="a"${';b="'.repeat(200_000)}\r\n\r\n1\r\n--xyz--`,
    ],
    ['has a head without end', `--xyz\r\nX: ${'x'.repeat(20_000)}`],
    ['has a longer boundary', '--xyzz\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--xyz--'],
  ])('is rejected when it %s', async (_, body) => {
    for (const size of [1000, 10_000_000]) {
      await expect(readParts(toRequest(body, size))).rejects.toMatchObject({ status: 400 });
    }
  });

  it('is rejected with another type, or without a boundary', async () => {
    for (const type of ['multipart/form-data', 'multipart/mixed; boundary=xyz', 'application/json', '']) {
      await expect(readParts(toRequest(PLAIN, 100, type))).rejects.toMatchObject({ status: 400 });
    }
  });

  it('stores at most the maximum of a field', async () => {
    const read = async (limit: number) => {
      for await (const part of readForm(toRequest(PLAIN))) return textOfPart(part, limit);
      return undefined;
    };
    expect(await read(1)).toBe('1');
    await expect(read(0)).rejects.toMatchObject({ status: 400 });
  });
});
