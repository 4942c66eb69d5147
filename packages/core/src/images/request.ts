import type { Payer } from '../call.ts';
import type { ImageRequest } from '../ports/media.ts';
import type { EditBody, GenerationBody } from './contract.ts';

/** Kinds of quests. */
export const IMAGE_GENERATION = 'image-generation';
export const IMAGE_EDIT = 'image-edit';

/** What is asked of the model, beside pictures. */
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

/** An image as it was accepted: what its worker is given. Plain JSON. */
export interface ImageQuestRequest {
  readonly model: string;
  readonly options: ImageOptions;
  /** What to change: a file's id, or an address. */
  readonly source?: string;
  readonly maskFileId?: string;
  readonly referenceFileIds: readonly string[];
  readonly projectId?: string;
  readonly payer: Payer;
  readonly requestId: string;
}

const USUAL_TOLERANCE = 2;

/** The request in the words of the port. Null and absent mean the same. */
export function imageOptions(body: GenerationBody): ImageOptions {
  const size = sizeOf(body);
  return {
    prompt: body.prompt,
    count: body.n ?? 1,
    safetyTolerance: body.safety_tolerance ?? USUAL_TOLERANCE,
    ...(size !== undefined && { size }),
    ...(body.aspect_ratio != null && { aspectRatio: body.aspect_ratio }),
    ...(body.quality != null && body.quality !== 'auto' && { quality: body.quality }),
    ...(body.style != null && { style: body.style }),
    ...(body.background != null && { background: body.background }),
    ...(body.seed != null && { seed: body.seed }),
    ...(body.output_format != null && { outputFormat: body.output_format }),
  };
}

function sizeOf({ size, width, height }: GenerationBody): ImageOptions['size'] {
  if (size != null) {
    const [across, down] = size.split('x').map(Number);
    return across === undefined || down === undefined ? undefined : { width: across, height: down };
  }
  return width == null || height == null ? undefined : { width, height };
}

/** The pictures of an edit: the mask comes first among its files. */
export function picturesOfEdit(
  body: EditBody,
): Pick<ImageQuestRequest, 'source' | 'maskFileId' | 'referenceFileIds'> {
  const [maskFileId, ...others] = body.fileIds ?? [];
  return {
    source: body.image,
    ...(maskFileId !== undefined && { maskFileId }),
    referenceFileIds: [...others, ...(body.referenceImageFileIds ?? [])],
  };
}
