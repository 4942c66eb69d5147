import { toCredits } from '../../credits/amounts.ts';
import { pricesAt } from '../../credits/pricing.ts';
import type { CatalogueEntry } from '../../models/catalogue.ts';
import type { MediaJobs, VideoAbilities, VideoRequest } from '../../ports/media.ts';
import { invalid } from '../../shared/errors.ts';
import { getEssence } from '../files/types.ts';
import { type VideoBody, videoOperations, type WireVideoJob, type WireVideoModel } from './contract.ts';
import { describeDurations, type GenerationKind, hasDuration, toWireDuration } from './kind.ts';
import type { VideoInput } from './records.ts';

/** The video kind. */
export const VIDEO: GenerationKind<VideoBody> = {
  kind: 'video',
  job: 'video-generation',
  operation: videoOperations.create.id,
  operations: videoOperations,

  serves: ({ info, provider }) =>
    info.type === 'video' && info.video !== undefined && provider.video !== undefined,

  toWireModel: getModel,
  choose,

  making({ video }, { providerModel, input }) {
    if (video === undefined) return undefined;
    const jobs: MediaJobs<VideoRequest> = video;
    const { prompt, durationSeconds, aspectRatio, resolution, audio } = input as VideoInput;
    const request: VideoRequest = {
      model: providerModel,
      prompt,
      durationSeconds,
      aspectRatio,
      resolution,
      ...(audio !== undefined && { audio }),
    };
    return {
      jobs,
      submit: (image, options) => jobs.submit(image === undefined ? request : { ...request, image }, options),
    };
  },

  getMimeType(_input, contentType) {
    const essence = getEssence(contentType);
    return essence?.startsWith('video/') ? essence : 'video/mp4';
  },

  toWire(common, input): WireVideoJob {
    const { mode, aspectRatio, resolution } = input as VideoInput;
    return { ...common, object: 'video_generation', mode, aspect_ratio: aspectRatio, resolution };
  },
};

function getAbilities({ info }: CatalogueEntry): VideoAbilities {
  if (info.video === undefined) throw new Error(`${info.id} is not a video model`);
  return info.video;
}

function getModel(entry: CatalogueEntry): WireVideoModel {
  const { info, prices } = entry;
  const { modes, duration, aspectRatios, resolutions, defaults, audio } = getAbilities(entry);
  const perSecond = resolutions.map((resolution) => [
    resolution,
    prices === undefined ? 0 : toCredits(pricesAt(prices, resolution).second),
  ]);
  return {
    id: info.id,
    object: 'video_model',
    display_name: info.name,
    provider: info.provider,
    modes: [...modes],
    duration: toWireDuration(duration),
    aspect_ratios: [...aspectRatios],
    resolutions: [...resolutions],
    defaults: {
      duration_seconds: defaults.durationSeconds,
      aspect_ratio: defaults.aspectRatio,
      resolution: defaults.resolution,
    },
    audio,
    credits_per_second: info.prices?.second === undefined ? null : Object.fromEntries(perSecond),
    deprecation_date: info.deprecationDate ?? null,
  };
}

function choose(entry: CatalogueEntry, body: VideoBody): VideoInput {
  const { info } = entry;
  const { modes, duration, aspectRatios, resolutions, defaults, audio } = getAbilities(entry);
  const { input_image_file_id: image } = body;
  const input: VideoInput = {
    prompt: body.prompt,
    mode:
      body.mode ??
      (image === undefined && modes.includes('text_to_video') ? 'text_to_video' : 'image_to_video'),
    durationSeconds: body.duration_seconds ?? defaults.durationSeconds,
    aspectRatio: body.aspect_ratio ?? defaults.aspectRatio,
    resolution: body.resolution ?? defaults.resolution,
    ...(body.audio !== undefined && { audio: body.audio }),
    ...(image !== undefined && { inputImageFileId: image }),
  };
  if (body.mode !== undefined && !modes.includes(body.mode)) {
    throw invalid('mode', `${info.name} supports ${modes.join(', ')}`, 'unsupported_mode');
  }
  if (image !== undefined && (input.mode === 'text_to_video' || !modes.includes('image_to_video'))) {
    throw invalid('input_image_file_id', 'not allowed for text-to-video', 'unexpected_input_image');
  }
  if (image === undefined && input.mode === 'image_to_video') {
    throw invalid('input_image_file_id', 'required for image-to-video', 'missing_input_image');
  }
  if (!hasDuration(duration, input.durationSeconds)) {
    throw invalid(
      'duration_seconds',
      `${info.name} supports ${describeDurations(duration)}`,
      'unsupported_duration',
    );
  }
  if (!aspectRatios.includes(input.aspectRatio)) {
    throw invalid(
      'aspect_ratio',
      `${info.name} supports ${aspectRatios.join(', ')}`,
      'unsupported_aspect_ratio',
    );
  }
  if (!resolutions.includes(input.resolution)) {
    throw invalid('resolution', `${info.name} supports ${resolutions.join(', ')}`, 'unsupported_resolution');
  }
  const isOdd = (input.audio === true && audio === 'none') || (input.audio === false && audio === 'always');
  if (isOdd) {
    throw invalid('audio', `${info.name} generates video with audio: ${audio}`, 'unsupported_audio_option');
  }
  return input;
}
