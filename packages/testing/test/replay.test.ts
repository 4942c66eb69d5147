import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModelPart, ModelProvider } from '@questline/core/ports';
import { readRecordings, replay } from '@questline/testing';
import { afterEach, describe, expect, it } from 'vitest';

/** A provider of a protocol with one event: each line of data is text. */
function createLineProvider(decode: (chunks: readonly Uint8Array[]) => string) {
  return (baseUrl: string): ModelProvider => ({
    id: 'lines',
    models: () => [],
    async generate(request) {
      const answer = await fetch(baseUrl, { method: 'POST', body: JSON.stringify(request) });
      const chunks: Uint8Array[] = [];
      for await (const chunk of answer.body ?? []) chunks.push(chunk);
      const parts: ModelPart[] = decode(chunks)
        .split('\n')
        .flatMap((line) => (line.startsWith('data: ') ? [{ type: 'text', text: line.slice(6) }] : []));
      return (async function* () {
        yield parts;
      })();
    },
  });
}

const bytes = Buffer.from('data: Zürich\n\ndata: 世界\n\n');
const whole = createLineProvider((chunks) => Buffer.concat(chunks).toString('utf8'));
const byChunk = createLineProvider((chunks) =>
  chunks.map((chunk) => Buffer.from(chunk).toString('utf8')).join(''),
);

let folder: string | undefined;
afterEach(async () => {
  if (folder !== undefined) await rm(folder, { recursive: true });
  folder = undefined;
});

describe('replay of recordings', () => {
  it('accepts a provider that reads the stream as a whole', async () => {
    const { whole: result, different } = await replay({ bytes }, whole);
    expect(result).toEqual({ text: 'Zürich世界', reasoning: '', calls: [] });
    expect(different).toEqual([]);
  });

  it('reports a provider that decodes every read separately, with the position', async () => {
    const { different } = await replay({ bytes }, byChunk);
    const places = different.map(({ at }) => at).sort((one, other) => one - other);
    // Byte by byte, and at every position within a multi-byte character.
    const inside = (character: string): number[] => {
      const start = bytes.indexOf(character);
      return Array.from({ length: Buffer.byteLength(character) - 1 }, (_, place) => start + place + 1);
    };
    expect(places).toEqual([-1, ...inside('ü'), ...inside('世'), ...inside('界')]);
  });

  it('splits a long recording at the allowed number of positions', async () => {
    const asked: string[] = [];
    const counting = (baseUrl: string): ModelProvider => {
      const provider = whole(baseUrl);
      return {
        ...provider,
        generate: (request, options) => {
          asked.push(request.model);
          return provider.generate(request, options);
        },
      };
    };
    await replay({ bytes }, counting, 5);
    expect(asked.length).toBeLessThanOrEqual(7);
  });

  it('reads its recordings from one folder per vendor', async () => {
    folder = await mkdtemp(join(tmpdir(), 'recordings-'));
    await mkdir(join(folder, 'lines'));
    await writeFile(join(folder, 'lines', 'one.sse'), bytes);
    await writeFile(join(folder, 'lines', 'one.json'), '{"text":"a","reasoning":"","calls":[]}');
    await writeFile(join(folder, 'lines', 'notes.md'), 'no recording');
    expect(await readRecordings(folder)).toEqual([
      { vendor: 'lines', name: 'one', bytes, expected: { text: 'a', reasoning: '', calls: [] } },
    ]);
  });
});
