import { meterMedia } from '../../credits/media.ts';
import type { JobHandler } from '../../jobs/handler.ts';
import type { GetCatalogue } from '../../models/allowed-models.ts';
import { type CircuitBreaker, getCircuit } from '../../models/breaker.ts';
import { refuseRetired } from '../../models/retired.ts';
import type { Ids } from '../../ports/ids.ts';
import type { ImageRequest, ImageResult } from '../../ports/media.ts';
import { createQuestHandler, type QuestHandlerServices } from '../../runs/handler.ts';
import type { QuestFile, QuestOutcome, QuestRecord } from '../../runs/records.ts';
import type { RunContext } from '../../runs/run-context.ts';
import { type RunningQuests, untilInterrupted } from '../../runs/running.ts';
import { ApiError } from '../../shared/errors.ts';
import type { FileLibrary, SkippedReason } from '../files/library.ts';
import { callProvider } from '../media-jobs/ask-provider.ts';
import { madeFileId } from '../media-jobs/result-id.ts';
import { addFiles, hasRoom } from '../projects/members.ts';
import { getSession, planMessages, type Question, writeMessages } from '../sessions/session.ts';
import { checkAbilities, fitOptions } from './abilities.ts';
import { editImage, generateImage } from './contract.ts';
import { computeMaximum } from './cost.ts';
import { type InputImageServices, loadInputImages } from './generated-images.ts';
import { IMAGE_EDIT, IMAGE_GENERATION, type ImageQuestRequest } from './request.ts';

const CONCURRENCY = 20;
const PHASES = ['load', 'model', 'store'];

export interface ImageJobServices extends QuestHandlerServices, InputImageServices {
  readonly getCatalogue: GetCatalogue;
  readonly ids: Ids;
  readonly breaker: CircuitBreaker;
  readonly library: FileLibrary;
}

/** Executes image generations and edits. */
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
      work: (run) => draw(services, run),
      alongside: (store, quest) => writeMessages(services, store, quest, ...getSaid(quest)),
    }),
  );
}

function getSaid({ request, images }: QuestRecord): [Question, string | undefined] {
  return [{ content: (request as ImageQuestRequest).options.prompt }, images?.join('\n')];
}

async function draw(services: ImageJobServices, run: RunContext): Promise<QuestOutcome> {
  const { quest, stopwatch, signal } = run;
  const asked = quest.request as ImageQuestRequest;
  stopwatch.phase('load');
  const session = await getSession(services.store, quest);
  run.planEnd((ended) => planMessages(services, session, ended, ...getSaid(ended)));
  const catalogue = await services.getCatalogue(quest.request.payer);
  const entry = catalogue.find(asked.model);
  const provider = entry?.provider;
  if (entry?.info.type !== 'image' || provider?.image === undefined) {
    refuseRetired(catalogue, asked.model);
    throw new ApiError(422, `The model '${asked.model}' is no longer available.`, {
      code: 'model_unavailable',
    });
  }
  const { image } = provider;
  const { options, source, referenceFileIds } = asked;
  checkAbilities(entry, options, { isEdit: source !== undefined, references: referenceFileIds.length });
  const project =
    asked.projectId === undefined ? undefined : { ownerId: quest.ownerId, projectId: asked.projectId };
  if (project !== undefined && !(await hasRoom(services.store, project, asked.options.count))) {
    throw new ApiError(422, 'The project was not found, or has the maximum number of files.');
  }
  const inputImages = await loadInputImages(services, quest.ownerId, asked, entry.info, signal);
  const request: ImageRequest = {
    ...fitOptions(options, entry),
    ...inputImages,
    model: entry.providerModel,
  };

  stopwatch.phase('model');
  const { amount: most } = meterMedia(entry.prices, computeMaximum(entry, request, request.count), undefined);
  const work = await run.payPrice(entry, most);
  // Image providers cannot be stopped: the images of a cancelled quest are charged.
  const unstoppable = untilInterrupted(signal);
  const result = await callProvider(services, getCircuit(entry, quest.ownerId), unstoppable, () =>
    image.call(provider, request, { signal: unstoppable }),
  );
  if (signal.aborted) {
    const made = Math.min(result.images.length, request.count);
    const { usage, amount } = meterMedia(entry.prices, computeMaximum(entry, request, made), result.usage);
    work.made(amount, usage);
    throw signal.reason;
  }

  stopwatch.phase('store');
  // Additional images that were not requested are free.
  const files = await keep(services.library, run, result.images.slice(0, request.count));
  if (project !== undefined) {
    await addFiles(
      services.store,
      project,
      files.map(({ fileId }) => fileId),
    );
  }
  const { usage, amount } = meterMedia(
    entry.prices,
    computeMaximum(entry, request, files.length),
    result.usage,
  );
  work.made(amount, usage);
  run.update({ images: files.map(({ name }) => name), files });
  return { type: 'message' };
}

const ENDINGS: Readonly<Record<string, string>> = { 'image/jpeg': 'jpg', 'image/webp': 'webp' };

/** Stores images that can be stored; an image that cannot be stored is free. */
async function keep(
  library: FileLibrary,
  { quest, signal }: RunContext,
  images: ImageResult['images'],
): Promise<QuestFile[]> {
  const files: QuestFile[] = [];
  let skipped: SkippedReason = 'error';
  for (const [place, { mediaType, data }] of images.entries()) {
    const name = `image-${quest.id.slice(-6)}-${place + 1}.${ENDINGS[mediaType] ?? 'png'}`;
    const made = { id: madeFileId(quest.id, place), name, mimeType: mediaType, content: data };
    const saved = await library.save(quest.ownerId, made, { signal });
    if (saved.file === undefined) skipped = saved.skipped;
    else files.push({ name, fileId: saved.file.id, isImage: true, isAudio: false, isVideo: false });
  }
  if (files.length > 0) return files;
  throw new ApiError(422, `The image could not be stored: ${REASONS[skipped]}`);
}

const REASONS: Readonly<Record<SkippedReason, string>> = {
  storage_limit: 'the storage quota for your files is used up.',
  file_too_large: 'it exceeds the maximum file size.',
  error: 'its file could not be written.',
};
