import type { ImageAbilities } from '../../ports/models.ts';
import { ApiError } from '../../shared/errors.ts';
import type { ImageOptions } from './request.ts';

type Size = NonNullable<ImageOptions['size']>;

/**
 * Maps size and ratio to what a model supports: models define images by pixels, by ratio, or have one fixed size.
 * @throws ApiError for callers, for a size that the model does not support.
 */
export function fitSize(options: ImageOptions, abilities: ImageAbilities | undefined): ImageOptions {
  const { size, aspectRatio, ...rest } = options;
  const { kind, ...sizing } = abilities?.sizing ?? { kind: 'dimensions' as const };
  switch (kind) {
    case 'fixed':
    case 'input_image':
      return rest;
    case 'presets':
      return { ...rest, ...preset(size, aspectRatio, getTexts(sizing.sizes)) };
    case 'aspect_ratio':
      return { ...rest, ...ratio(size, aspectRatio, getTexts(sizing.ratios)) };
    case 'dimensions':
      checkBounds(size, sizing);
      return options;
  }
}

function preset(
  size: Size | undefined,
  aspectRatio: string | undefined,
  known: readonly string[],
): Pick<ImageOptions, 'size'> {
  if (size !== undefined) {
    const name = `${size.width}x${size.height}`;
    if (known.length > 0 && !known.includes(name)) throw unfit('size', name, known);
    return { size };
  }
  if (aspectRatio === undefined) return {};
  const wanted = quotient(aspectRatio, ':');
  const distance = (name: string): number => Math.abs(Math.log(quotient(name, 'x') / wanted));
  const [nearest] = known.filter((name) => name.includes('x')).sort((a, b) => distance(a) - distance(b));
  const [width, height] = nearest?.split('x').map(Number) ?? [];
  return width === undefined || height === undefined ? {} : { size: { width, height } };
}

function ratio(
  size: Size | undefined,
  aspectRatio: string | undefined,
  known: readonly string[],
): Pick<ImageOptions, 'aspectRatio'> {
  const wanted = aspectRatio ?? (size && reduced(size));
  if (wanted === undefined) return {};
  if (known.length > 0 && !known.includes(wanted)) throw unfit('aspect_ratio', wanted, known);
  return { aspectRatio: wanted };
}

function checkBounds(size: Size | undefined, { min, max }: Readonly<Record<string, unknown>>): void {
  if (size === undefined) return;
  const [low, high] = [typeof min === 'number' ? min : 1, typeof max === 'number' ? max : 65_535];
  for (const side of [size.width, size.height]) {
    if (side < low || side > high) {
      throw new ApiError(422, `size: this model supports ${low} to ${high} pixels a side.`);
    }
  }
}

function unfit(field: string, wanted: string, known: readonly string[]): ApiError {
  return new ApiError(
    422,
    `${field}: this model does not support ${wanted}; it supports ${known.join(', ')}.`,
  );
}

function getTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function quotient(text: string, sign: string): number {
  const [first = 1, second = 1] = text.split(sign).map(Number);
  return first / second;
}

function reduced({ width, height }: Size): string {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  const common = divisor(width, height);
  return `${width / common}:${height / common}`;
}
