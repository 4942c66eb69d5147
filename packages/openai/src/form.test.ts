import type { ApiRequest } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { describeForm, readWholeForm } from './form.ts';

/** A request with a form. */
async function send(parts: readonly (readonly [name: string, value: string | File])[]): Promise<ApiRequest> {
  const form = new FormData();
  for (const [name, value] of parts) form.append(name, value);
  const request = new Request('http://localhost', { method: 'POST', body: form });
  const bytes = new Uint8Array(await request.arrayBuffer());
  async function* stream() {
    yield bytes;
  }
  const headers = { 'content-type': request.headers.get('content-type') ?? '' };
  return { headers, body: { stream } } as unknown as ApiRequest;
}

const FILE = (content: string, name = 'a.txt') => new File([content], name, { type: 'text/plain' });

describe('form of the OpenAI wire', () => {
  it('has the last field of each name, and its files in order', async () => {
    const request = await send([
      ['a', '1'],
      ['image[]', FILE('one')],
      ['a', '2'],
      ['image', FILE('two', 'b.txt')],
    ]);
    const { fields, files } = await readWholeForm(request, 100);
    expect(fields).toEqual({ a: '2' });
    expect(files).toEqual([
      { field: 'image', filename: 'a.txt', contentType: 'text/plain', data: Buffer.from('one') },
      { field: 'image', filename: 'b.txt', contentType: 'text/plain', data: Buffer.from('two') },
    ]);
  });

  it('has files of at most a size, together', async () => {
    const read = async (maxBytes: number) =>
      readWholeForm(
        await send([
          ['a', FILE('12345')],
          ['b', FILE('67')],
        ]),
        maxBytes,
      );
    expect((await read(7)).files).toHaveLength(2);
    await expect(read(6)).rejects.toMatchObject({ status: 413 });
    await expect(read(4)).rejects.toMatchObject({ status: 413 });
  });

  it('is described by its fields, and by the hashes of its files', async () => {
    const toText = async (content: string) =>
      JSON.parse(
        JSON.stringify(
          describeForm(
            await readWholeForm(
              await send([
                ['a', '1'],
                ['b', FILE(content)],
              ]),
              100,
            ),
          ),
        ),
      );
    const first = await toText('one');
    expect(first).toEqual({
      fields: { a: '1' },
      files: [{ field: 'b', filename: 'a.txt', contentType: 'text/plain', sha256: expect.any(String) }],
    });
    expect(await toText('one')).toEqual(first);
    expect(await toText('two')).not.toEqual(first);
  });
});
