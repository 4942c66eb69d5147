import { describe, expect, it } from 'vitest';
import { IMAGE, MODEL, OTHER, setUp, TEXT, toId, UNCHECKED } from '../../../test/files-reader.ts';
import type { ModelContent } from '../../ports/models.ts';
import type { FileContent, FilesReader } from '../files/reader.ts';
import { checkAttachments, loadAttachments } from './attachments.ts';

describe('check of attached files', () => {
  it('accepts readable files that are clean', async () => {
    const { reader } = await setUp();
    await expect(checkAttachments(reader, 'ada', [TEXT, IMAGE])).resolves.toBeUndefined();
    await expect(checkAttachments(reader, 'ada', [])).resolves.toBeUndefined();
  });

  it.each([
    ['of another user', OTHER, { status: 404, message: 'File not found' }],
    ['that does not exist', toId(9), { status: 404 }],
    ['in moderation', UNCHECKED, { status: 422, code: 'unsupported_input' }],
  ])('refuses one %s', async (_, id, error) => {
    const { reader } = await setUp();
    await expect(checkAttachments(reader, 'ada', [TEXT, id])).rejects.toMatchObject(error);
  });
});

describe('attached files for the model', () => {
  const MODEL_NAMED = { ...MODEL, name: 'Scribe' };
  const image = (characters: number): ModelContent[] => [
    { type: 'image', mediaType: 'image/png', data: 'x'.repeat(characters) },
  ];

  /** @returns also the ids that were read. */
  async function load(...given: Omit<FileContent, 'id'>[]) {
    const ids = given.map((_, at) => `f${at}`);
    const seen: unknown[] = [];
    const files = {
      async *contents(userId, wanted, model, options) {
        expect([userId, wanted, model]).toEqual(['ada', ids, MODEL_NAMED]);
        seen.push(options);
        for (const [at, one] of given.entries()) {
          seen.push(`f${at}`);
          yield { id: `f${at}`, ...one };
        }
      },
    } as Partial<FilesReader> as FilesReader;
    const { signal } = new AbortController();
    const loaded = await loadAttachments(files, 'ada', ids, MODEL_NAMED, { signal });
    expect(seen.shift()).toEqual({ signal });
    return { ...loaded, seen };
  }

  it('are delivered in their order', async () => {
    const [a, b] = [image(1), image(2)];
    const { contents, delivery, notices } = await load({ content: a }, { content: b });
    expect(contents).toEqual([...a, ...b]);
    expect(delivery).toEqual({
      ...{ requested: 2, delivered: 2, fullyDelivered: true, dropped: 0, droppedIds: [] },
    });
    expect(notices).toEqual([]);
  });

  it('that the model cannot have are named, with the reason', async () => {
    const { contents, delivery, notices } = await load(
      ...[{ content: undefined }, { content: undefined, refusal: 'It is locked.' }, { content: image(1) }],
    );
    expect(contents).toEqual(image(1));
    expect(delivery).toEqual({
      ...{ requested: 3, delivered: 1, fullyDelivered: false, dropped: 2, droppedIds: ['f0', 'f1'] },
    });
    expect(notices).toEqual(['2 of 3 attached files could not be given to Scribe.', 'It is locked.']);
  });

  it('stop at 64 MiB of all files, and no further file is read', async () => {
    const most = 64 * 2 ** 20;
    const text: ModelContent[] = [{ type: 'text', text: 'free' }];
    const full = await load(
      { content: image(most - 1) },
      { content: [...image(1), ...text] },
      { content: text },
    );
    expect(full.delivery.delivered).toBe(3);
    const over = await load({ content: image(most) }, { content: image(1) }, { content: text });
    expect(over.delivery.droppedIds).toEqual(['f1', 'f2']);
    expect(over.seen).toEqual(['f0', 'f1']);
  });
});
