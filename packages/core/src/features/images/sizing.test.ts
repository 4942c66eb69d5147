import { describe, expect, it } from 'vitest';
import type { ImageAbilities } from '../../ports/models.ts';
import type { ImageOptions } from './request.ts';
import { fitSize } from './sizing.ts';

type Sizing = ImageAbilities['sizing'];
type Asked = Pick<ImageOptions, 'size' | 'aspectRatio'>;

const BASE: ImageOptions = { prompt: 'A red panda', count: 1, safetyTolerance: 2 };
const to = (width: number, height: number): Asked => ({ size: { width, height } });
const ratio = (aspectRatio: string): Asked => ({ aspectRatio });

/** The options for the model, without those that every model gets. */
function fit(sizing: Sizing | undefined, asked: Asked): Asked {
  const { prompt, count, safetyTolerance, ...rest } = fitSize(
    { ...BASE, ...asked },
    sizing === undefined ? undefined : ({ sizing } as ImageAbilities),
  );
  expect({ prompt, count, safetyTolerance }).toEqual(BASE);
  return rest;
}

const PRESETS: Sizing = { kind: 'presets', sizes: ['1024x1024', '1536x1024', '1024x1536', 'auto'] };
const RATIOS: Sizing = { kind: 'aspect_ratio', ratios: ['1:1', '3:2', '16:9'] };

describe('size of an image', () => {
  it.each<[string, Sizing | undefined, Asked, Asked]>([
    ['fixed', { kind: 'fixed' }, { ...to(512, 512), ...ratio('1:1') }, {}],
    ['that of its input', { kind: 'input_image' }, { ...to(512, 512), ...ratio('1:1') }, {}],
    ['a preset', PRESETS, to(1536, 1024), to(1536, 1024)],
    [
      'a preset, which counts more than a ratio',
      PRESETS,
      { ...to(1024, 1024), ...ratio('3:2') },
      to(1024, 1024),
    ],
    ['any where no presets are known', { kind: 'presets' }, to(7, 9), to(7, 9)],
    ['chosen by the model without a wish', PRESETS, {}, {}],
    ['the preset of a ratio', PRESETS, ratio('3:2'), to(1536, 1024)],
    ['the preset nearest to a wide ratio', PRESETS, ratio('16:9'), to(1536, 1024)],
    ['the preset nearest to a tall ratio', PRESETS, ratio('9:16'), to(1024, 1536)],
    ['the preset nearest to a ratio that is almost square', PRESETS, ratio('10:9'), to(1024, 1024)],
    [
      'chosen by the model where no preset has a size',
      { kind: 'presets', sizes: ['auto'] },
      ratio('1:1'),
      {},
    ],
    ['a ratio', RATIOS, ratio('16:9'), ratio('16:9')],
    ['the ratio of a size', RATIOS, to(1920, 1080), ratio('16:9')],
    ['the ratio of a square', RATIOS, to(640, 640), ratio('1:1')],
    ['a ratio, which counts more than a size', RATIOS, { ...to(640, 640), ...ratio('3:2') }, ratio('3:2')],
    ['no ratio without a wish', RATIOS, {}, {}],
    ['any ratio where none are known', { kind: 'aspect_ratio' }, ratio('5:4'), ratio('5:4')],
    ['any ratio of a size where none are known', { kind: 'aspect_ratio' }, to(1000, 800), ratio('5:4')],
    [
      'as asked',
      { kind: 'dimensions', min: 64, max: 2048 },
      { ...to(64, 2048), ...ratio('1:1') },
      { ...to(64, 2048), ...ratio('1:1') },
    ],
    ['as asked without bounds', { kind: 'dimensions' }, to(1, 65_535), to(1, 65_535)],
    ['as asked where nothing is known of the model', undefined, to(1, 65_535), to(1, 65_535)],
    ['absent without a wish', { kind: 'dimensions', min: 64, max: 2048 }, {}, {}],
  ])('is %s', (_name, sizing, asked, expected) => {
    expect(fit(sizing, asked)).toEqual(expected);
  });

  it.each<[string, Sizing, Asked, string]>([
    [
      'another preset',
      PRESETS,
      to(512, 512),
      'size: this model does not support 512x512; it supports 1024x1024, 1536x1024, 1024x1536, auto.',
    ],
    [
      'another ratio',
      RATIOS,
      ratio('5:4'),
      'aspect_ratio: this model does not support 5:4; it supports 1:1, 3:2, 16:9.',
    ],
    [
      'a size of another ratio',
      RATIOS,
      to(1000, 800),
      'aspect_ratio: this model does not support 5:4; it supports 1:1, 3:2, 16:9.',
    ],
    [
      'too narrow a size',
      { kind: 'dimensions', min: 64, max: 2048 },
      to(63, 64),
      'size: this model supports 64 to 2048 pixels a side.',
    ],
    [
      'too low a size',
      { kind: 'dimensions', min: 64, max: 2048 },
      to(64, 63),
      'size: this model supports 64 to 2048 pixels a side.',
    ],
    [
      'too wide a size',
      { kind: 'dimensions', min: 64, max: 2048 },
      to(2049, 64),
      'size: this model supports 64 to 2048 pixels a side.',
    ],
    [
      'too tall a size',
      { kind: 'dimensions', min: 64, max: 2048 },
      to(64, 2049),
      'size: this model supports 64 to 2048 pixels a side.',
    ],
    [
      'a size beyond all bounds',
      { kind: 'dimensions' },
      to(1, 65_536),
      'size: this model supports 1 to 65535 pixels a side.',
    ],
  ])('is refused: %s', (_name, sizing, asked, message) => {
    const refused = expect(() => fit(sizing, asked));
    refused.toThrow(expect.objectContaining({ status: 422, message }));
  });
});
