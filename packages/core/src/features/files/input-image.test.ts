import { describe, expect, it } from 'vitest';
import { IMAGE, MODEL, setUp, TEXT, toId, UNCHECKED } from '../../../test/files-reader.ts';
import type { ModelInfo } from '../../ports/models.ts';
import { readInputImage, readInputImages } from './input-image.ts';

const UNKNOWN = toId(9);

describe('a reference image', () => {
  const blind = { ...MODEL, type: 'image', supportsVision: false } as unknown as ModelInfo;

  it('is read for a model that has no vision, once', async () => {
    const { reader, calls } = await setUp(undefined, Buffer.from('png'));
    const media = { mediaType: 'image/png', data: Buffer.from('png') };
    expect(await readInputImage(reader, 'ada', IMAGE, blind)).toEqual(media);
    expect([...(await readInputImages(reader, 'ada', [IMAGE, IMAGE], blind))]).toEqual([[IMAGE, media]]);
    expect(calls).toHaveLength(2);
  });

  it.each([
    [UNKNOWN, 'A reference image was not found.', 'input_image_not_found'],
    [UNCHECKED, 'A reference image is still in moderation, or was blocked.', undefined],
    [TEXT, 'A reference file is not an image.', undefined],
    [IMAGE, 'A reference file is not an image that models can read.', undefined],
  ])('is refused: %s', async (id, message, code) => {
    const { reader } = await setUp();
    const refused = expect.objectContaining({ status: 422, message, code });
    await expect(readInputImage(reader, 'ada', id, blind)).rejects.toEqual(refused);
  });
});
