import { meterMedia } from '../credits/media.ts';
import type { JobHandler } from '../engine/worker.ts';
import { ApiError } from '../errors.ts';
import type { FileLibrary } from '../files/library.ts';
import { askOnce } from '../media/asking.ts';
import { madeFileId } from '../media/made.ts';
import type { Breaker } from '../models/breaker.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import type { Ids } from '../ports/ids.ts';
import type { ImageRequest, ImageResult } from '../ports/media.ts';
import { addFiles, hasRoom } from '../projects/members.ts';
import type { CatalogueOf } from '../provider-keys/own-models.ts';
import type { Desk } from '../quests/desk.ts';
import { createQuestHandler, type QuestHandlerServices } from '../quests/handler.ts';
import type { QuestFile, QuestOutcome } from '../quests/records.ts';
import type { RunningQuests } from '../quests/running.ts';
import { sessionOf, writeMessages } from '../quests/session.ts';
import { editImage, generateImage } from './contract.ts';
import { mostOf } from './cost.ts';
import { loadPictures, type PictureServices } from './pictures.ts';
import { IMAGE_EDIT, IMAGE_GENERATION, type ImageQuestRequest } from './request.ts';
import { fitSize } from './sizing.ts';

const CONCURRENCY = 20;
const PHASES = ['load', 'model', 'store'];

export interface ImageJobServices extends QuestHandlerServices, PictureServices {
  readonly catalogueOf: CatalogueOf;
  readonly ids: Ids;
  readonly breaker: Breaker;
  readonly library: FileLibrary;
}

/** Draws what generations and edits asked for. */
export function createImageHandlers(services: ImageJobServices, running: RunningQuests): JobHandler[] {
  const kinds = [
    { kind: IMAGE_GENERATION, operation: generateImage.id },
    { kind: IMAGE_EDIT, operation: editImage.id },
  ];
  return kinds.map((kind) =>
    createQuestHandler(services, running, {
      ...kind,
      concurrency: CONCURRENCY,
      phases: PHASES,
      work: (desk) => draw(services, desk),
      alongside: (store, quest) => {
        const { options } = quest.request as ImageQuestRequest;
        return writeMessages(services, store, quest, options.prompt, quest.images?.join('\n'));
      },
    }),
  );
}

async function draw(services: ImageJobServices, desk: Desk): Promise<QuestOutcome> {
  const { quest, watch, signal } = desk;
  const asked = quest.request as ImageQuestRequest;
  watch.phase('load');
  await sessionOf(services.store, quest);
  const entry = (await services.catalogueOf(quest.ownerId)).find(asked.model);
  const provider = entry?.provider;
  if (entry?.info.type !== 'image' || provider?.image === undefined) {
    throw new ApiError(422, `The model '${asked.model}' can no longer be used.`, {
      code: 'model_unavailable',
    });
  }
  const { image } = provider;
  checkAbilities(entry, asked);
  const project =
    asked.projectId === undefined ? undefined : { ownerId: quest.ownerId, projectId: asked.projectId };
  if (project !== undefined && !(await hasRoom(services.store, project, asked.options.count))) {
    throw new ApiError(422, 'The project was not found, or has no room for more files.');
  }
  const pictures = await loadPictures(services, quest.ownerId, asked, entry.info, signal);
  const request: ImageRequest = {
    ...fitSize(withoutUnknown(asked, entry), entry.info.image),
    ...pictures,
    model: entry.providerModel,
  };

  watch.phase('model');
  const { amount: most } = meterMedia(entry.prices, mostOf(entry, request, request.count), undefined);
  const work = await desk.payPrice(entry, most);
  const result = await askOnce(services, provider.id, signal, () =>
    image.call(provider, request, { signal }),
  );

  watch.phase('store');
  // Nobody pays for what was not asked for.
  const files = await keep(services.library, desk, result.images.slice(0, request.count));
  if (project !== undefined) {
    await addFiles(
      services.store,
      project,
      files.map(({ fileId }) => fileId),
    );
  }
  const { usage, amount } = meterMedia(entry.prices, mostOf(entry, request, files.length), result.usage);
  work.made(amount, usage);
  desk.tell({ images: files.map(({ name }) => name), files });
  return { type: 'message' };
}

/** @throws ApiError in words for callers. */
function checkAbilities(
  { info }: CatalogueEntry,
  { options, source, referenceFileIds }: ImageQuestRequest,
): void {
  const supports = info.image?.supports;
  if (supports === undefined) return;
  const refuse = (message: string): never => {
    throw new ApiError(422, message);
  };
  if (options.count > supports.max_images)
    refuse(`n: ${info.name} draws at most ${supports.max_images} at once.`);
  if (source !== undefined && !supports.edit) refuse(`${info.name} does not edit images.`);
  if (source === undefined && supports.requires_input_image && referenceFileIds.length === 0) {
    refuse(`${info.name} needs an image to start from.`);
  }
  if (referenceFileIds.length > supports.max_reference_images) {
    refuse(`${info.name} takes at most ${supports.max_reference_images} reference images.`);
  }
  if (options.background === 'transparent' && !supports.transparent_background) {
    refuse(`${info.name} draws no transparent backgrounds.`);
  }
}

/** Wishes that only shade the picture are left out where the model does not know them. */
function withoutUnknown(
  { options }: ImageQuestRequest,
  { info }: CatalogueEntry,
): ImageQuestRequest['options'] {
  const supports = info.image?.supports;
  if (supports === undefined) return options;
  const { seed, quality, ...rest } = options;
  const known: Readonly<Record<string, string>> = { hd: 'high', standard: 'medium' };
  const level = quality === undefined || supports.qualities.includes(quality) ? quality : known[quality];
  return {
    ...rest,
    ...(seed !== undefined && supports.seed && { seed }),
    ...(level !== undefined && supports.qualities.includes(level) && { quality: level }),
  };
}

const ENDINGS: Readonly<Record<string, string>> = { 'image/jpeg': 'jpg', 'image/webp': 'webp' };

/** Pictures are made when they can be had: what could not be kept is not paid for. */
async function keep(
  library: FileLibrary,
  { quest, signal }: Desk,
  images: ImageResult['images'],
): Promise<QuestFile[]> {
  const files: QuestFile[] = [];
  let skipped: string | undefined;
  for (const [place, { mediaType, data }] of images.entries()) {
    const name = `image-${quest.id.slice(-6)}-${place + 1}.${ENDINGS[mediaType] ?? 'png'}`;
    const made = { id: madeFileId(quest.id, place), name, mimeType: mediaType, content: data };
    const saved = await library.save(quest.ownerId, made, { signal });
    if (saved.file === undefined) skipped = saved.skipped;
    else files.push({ name, fileId: saved.file.id, isImage: true, isAudio: false, isVideo: false });
  }
  if (files.length > 0) return files;
  throw new ApiError(422, `The image could not be kept: ${REASONS[skipped ?? 'error'] ?? REASONS.error}`);
}

const REASONS: Readonly<Record<string, string>> = {
  storage_limit: 'there is no room left for your files.',
  file_too_large: 'it is larger than files may be.',
  error: 'its file could not be written.',
};
