import { describe, expect, it } from 'vitest';
import type { CatalogueEntry } from '../../models/catalogue.ts';
import type { ImageRequest } from '../../ports/media.ts';
import { checkAbilities, fitOptions } from './abilities.ts';
import type { EditBody, GenerationBody } from './contract.ts';
import { computeMaximum } from './cost.ts';
import { getEditImages, type ImageOptions, imageOptions } from './request.ts';

describe('options of an image', () => {
  const usual = { prompt: 'p', count: 1, safetyTolerance: 2 };

  it.each<[object, object]>([
    [{}, usual],
    [
      { n: 3, safety_tolerance: 0 },
      { ...usual, count: 3, safetyTolerance: 0 },
    ],
    [{ quality: 'auto' }, usual],
    [
      {
        quality: 'hd',
        style: 'vivid',
        background: 'opaque',
        seed: 0,
        output_format: 'png',
        aspect_ratio: '1:1',
      },
      {
        ...usual,
        quality: 'hd',
        style: 'vivid',
        background: 'opaque',
        seed: 0,
        outputFormat: 'png',
        aspectRatio: '1:1',
      },
    ],
    [
      {
        n: null,
        quality: null,
        style: null,
        background: null,
        seed: null,
        output_format: null,
        aspect_ratio: null,
      },
      usual,
    ],
    [
      { size: '640x480', width: 1, height: 1 },
      { ...usual, size: { width: 640, height: 480 } },
    ],
    [{ size: 'auto' }, usual],
    [
      { size: null, width: 3, height: 4 },
      { ...usual, size: { width: 3, height: 4 } },
    ],
    [{ width: 3 }, usual],
    [{ height: 4, width: null }, usual],
  ])('of the body %j are %j', (body, options) => {
    expect(imageOptions({ prompt: 'p', ...body } as GenerationBody)).toEqual(options);
  });

  it.each<[object, object]>([
    [{}, { source: 'i', referenceFileIds: [] }],
    [{ fileIds: ['m'] }, { source: 'i', maskFileId: 'm', referenceFileIds: [] }],
    [
      { fileIds: ['m', 'a'], referenceImageFileIds: ['b'] },
      { source: 'i', maskFileId: 'm', referenceFileIds: ['a', 'b'] },
    ],
    [{ referenceImageFileIds: ['b'] }, { source: 'i', referenceFileIds: ['b'] }],
  ])('of an edit with %j have the images %j', (body, images) => {
    expect(getEditImages({ prompt: 'p', image: 'i', ...body } as EditBody)).toEqual(images);
  });
});

describe('options that only refine an image', () => {
  const fit = (options: Partial<ImageOptions>, supports?: object) =>
    fitOptions({ prompt: 'p', count: 1, ...options }, {
      info: { image: { sizing: { kind: 'fixed' }, ...(supports && { supports }) } },
    } as unknown as CatalogueEntry);
  const left = { prompt: 'p', count: 1 };

  it.each<[Partial<ImageOptions>, object, object]>([
    [{ seed: 0 }, { seed: true, qualities: [] }, { seed: 0 }],
    [{ seed: 5 }, { seed: false, qualities: [] }, {}],
    [{ quality: 'high' }, { qualities: ['high'] }, { quality: 'high' }],
    [{ quality: 'hd' }, { qualities: ['low', 'high'] }, { quality: 'high' }],
    [{ quality: 'standard' }, { qualities: ['medium'] }, { quality: 'medium' }],
    [{ quality: 'hd' }, { qualities: ['hd', 'high'] }, { quality: 'hd' }],
    [{ quality: 'hd' }, { qualities: ['low'] }, {}],
    [{ quality: 'low' }, { qualities: ['high'] }, {}],
  ])('%j are for a model with %j: %j', (options, supports, kept) => {
    expect(fit(options, supports)).toEqual({ ...left, ...kept });
  });

  it('stay where nothing is known about the model', () => {
    expect(fit({ seed: 1, quality: 'low' })).toEqual({ ...left, seed: 1, quality: 'low' });
  });
});

describe('largest usage of images', () => {
  const IMAGE = { mediaType: 'image/png', data: Uint8Array.of(1) };
  it.each<[string, object | undefined, Partial<ImageRequest>, number, object]>([
    ['without prices', undefined, {}, 0, { images: 2 }],
    ['without prices of tokens', { input: 0, output: 0 }, {}, 0, { images: 2 }],
    ['of tokens', { input: 1, output: 0 }, {}, 0, { images: 2, input: 2, output: 16_384 }],
    ['of a cheap token', { input: 0, output: 1 }, {}, 10, { images: 2, input: 2, output: 20 }],
    ['with a source', { input: 1, output: 1 }, { source: IMAGE }, 1, { images: 2, input: 1002, output: 2 }],
    [
      'with references',
      { input: 1, output: 1 },
      { source: IMAGE, references: [IMAGE, IMAGE] },
      1,
      { images: 2, input: 3002, output: 2 },
    ],
  ])('%s', (_name, prices, more, maxOutputTokens, expected) => {
    const entry = { prices, info: { maxOutputTokens } } as unknown as CatalogueEntry;
    const request = { prompt: 'abc', count: 2, model: 'm', ...more };
    expect(computeMaximum(entry, request, 2)).toEqual(expected);
  });
});

describe('abilities of a model', () => {
  const SUPPORTS = {
    ...{ max_images: 2, edit: true, requires_input_image: false, max_reference_images: 1 },
    transparent_background: true,
  };
  const check = (supports: object | undefined, options: object = {}, input: object = {}) =>
    checkAbilities(
      {
        info: { name: 'M', image: { supports: supports && { ...SUPPORTS, ...supports } } },
      } as unknown as CatalogueEntry,
      { count: 1, ...options },
      { isEdit: false, references: 0, ...input },
    );

  it.each<[object | undefined, object, object]>([
    [undefined, { count: 99 }, {}],
    [{}, { count: 2, background: 'transparent' }, { references: 1 }],
    [{}, {}, { isEdit: true }],
    [{ edit: false }, {}, {}],
    [{ requires_input_image: true }, {}, { isEdit: true }],
    [{ requires_input_image: true }, {}, { references: 1 }],
    [{ transparent_background: false }, { background: 'opaque' }, {}],
  ])('%j allow %j with %j', (supports, options, input) => {
    expect(() => check(supports, options, input)).not.toThrow();
  });

  it.each<[object, object, object, string]>([
    [{}, { count: 3 }, {}, 'n: M generates at most 2 at once.'],
    [{ edit: false }, {}, { isEdit: true }, 'M does not edit images.'],
    [{ requires_input_image: true }, {}, {}, 'M requires an input image.'],
    [{}, {}, { references: 2 }, 'M accepts at most 1 reference images.'],
    [
      { transparent_background: false },
      { background: 'transparent' },
      {},
      'M does not support transparent backgrounds.',
    ],
  ])('%j refuse %j with %j: %s', (supports, options, input, message) => {
    expect(() => check(supports, options, input)).toThrow(expect.objectContaining({ status: 422, message }));
  });
});
