import type { Payer } from '../../contract/call.ts';
import type { ImageRequest } from '../../ports/media.ts';
import type { EditBody, GenerationBody } from './contract.ts';

/** Quest kinds. */
export const IMAGE_GENERATION = 'image-generation';
export const IMAGE_EDIT = 'image-edit';

/** Options for the model, without images. */
export type ImageOptions = Pick<
  ImageRequest,
  | 'prompt'
  | 'count'
  | 'size'
  | 'aspectRatio'
  | 'quality'
  | 'style'
  | 'background'
  | 'seed'
  | 'outputFormat'
  | 'safetyTolerance'
>;

/** An accepted image request: the input of its worker. Plain JSON. */
export interface ImageQuestRequest {
  readonly model: string;
  readonly options: ImageOptions;
  /** The image to edit: a file id, or a URL. */
  readonly source?: string;
  readonly maskFileId?: string;
  readonly referenceFileIds: readonly string[];
  readonly projectId?: string;
  readonly payer: Payer;
  readonly requestId: string;
}

const DEFAULT_TOLERANCE = 2;

/** Converts a body to the port's request. Null and absent mean the same. */
export function imageOptions(body: GenerationBody): ImageOptions {
  const size = getSize(body);
  return {
    prompt: body.prompt,
    count: body.n ?? 1,
    safetyTolerance: body.safety_tolerance ?? DEFAULT_TOLERANCE,
    ...(size !== undefined && { size }),
    ...(body.aspect_ratio != null && { aspectRatio: body.aspect_ratio }),
    ...(body.quality != null && body.quality !== 'auto' && { quality: body.quality }),
    ...(body.style != null && { style: body.style }),
    ...(body.background != null && { background: body.background }),
    ...(body.seed != null && { seed: body.seed }),
    ...(body.output_format != null && { outputFormat: body.output_format }),
  };
}

function getSize({ size, width, height }: GenerationBody): ImageOptions['size'] {
  if (size != null) {
    const [across, down] = size.split('x').map(Number);
    return across === undefined || down === undefined ? undefined : { width: across, height: down };
  }
  return width == null || height == null ? undefined : { width, height };
}

/** The images of an edit: the mask comes first among its files. */
export function getEditImages(
  body: EditBody,
): Pick<ImageQuestRequest, 'source' | 'maskFileId' | 'referenceFileIds'> {
  const [maskFileId, ...others] = body.fileIds ?? [];
  return {
    source: body.image,
    ...(maskFileId !== undefined && { maskFileId }),
    referenceFileIds: [...others, ...(body.referenceImageFileIds ?? [])],
  };
}
