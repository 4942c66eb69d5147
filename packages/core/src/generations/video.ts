import { toCredits } from '../credits/amounts.ts';
import { pricesAt } from '../credits/pricing.ts';
import { invalid } from '../errors.ts';
import { essenceOf } from '../files/types.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import type { MediaJobs, VideoAbilities, VideoRequest } from '../ports/media.ts';
import { type VideoBody, videoOperations, type WireVideoJob, type WireVideoModel } from './contract.ts';
import { durationsOf, type GenerationKind, hasDuration, toWireDuration } from './kind.ts';
import type { VideoWish } from './records.ts';

/** Films. */
export const VIDEO: GenerationKind<VideoBody> = {
  kind: 'video',
  job: 'video-generation',
  operation: videoOperations.create.id,
  operations: videoOperations,

  serves: ({ info, provider }) =>
    info.type === 'video' && info.video !== undefined && provider.video !== undefined,

  toWireModel: modelOf,
  choose,

  making({ video }, { providerModel, wish }) {
    if (video === undefined) return undefined;
    const jobs: MediaJobs<VideoRequest> = video;
    const { prompt, durationSeconds, aspectRatio, resolution, audio } = wish as VideoWish;
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

  mimeTypeOf(_wish, told) {
    const essence = essenceOf(told);
    return essence?.startsWith('video/') ? essence : 'video/mp4';
  },

  toWire(common, wish): WireVideoJob {
    const { mode, aspectRatio, resolution } = wish as VideoWish;
    return { ...common, object: 'video_generation', mode, aspect_ratio: aspectRatio, resolution };
  },
};

function abilitiesOf({ info }: CatalogueEntry): VideoAbilities {
  if (info.video === undefined) throw new Error(`${info.id} makes no films`);
  return info.video;
}

function modelOf(entry: CatalogueEntry): WireVideoModel {
  const { info, prices } = entry;
  const { modes, duration, aspectRatios, resolutions, defaults, audio } = abilitiesOf(entry);
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

function choose(entry: CatalogueEntry, body: VideoBody): VideoWish {
  const { info } = entry;
  const { modes, duration, aspectRatios, resolutions, defaults, audio } = abilitiesOf(entry);
  const { input_image_file_id: image } = body;
  const wish: VideoWish = {
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
    throw invalid('mode', `${info.name} does ${modes.join(', ')}`, 'unsupported_mode');
  }
  if (image !== undefined && (wish.mode === 'text_to_video' || !modes.includes('image_to_video'))) {
    throw invalid('input_image_file_id', 'a film from text alone takes none', 'unexpected_input_image');
  }
  if (image === undefined && wish.mode === 'image_to_video') {
    throw invalid('input_image_file_id', 'a film from an image needs one', 'missing_input_image');
  }
  if (!hasDuration(duration, wish.durationSeconds)) {
    throw invalid('duration_seconds', `${info.name} makes ${durationsOf(duration)}`, 'unsupported_duration');
  }
  if (!aspectRatios.includes(wish.aspectRatio)) {
    throw invalid('aspect_ratio', `${info.name} does ${aspectRatios.join(', ')}`, 'unsupported_aspect_ratio');
  }
  if (!resolutions.includes(wish.resolution)) {
    throw invalid('resolution', `${info.name} does ${resolutions.join(', ')}`, 'unsupported_resolution');
  }
  const isOdd = (wish.audio === true && audio === 'none') || (wish.audio === false && audio === 'always');
  if (isOdd) {
    throw invalid('audio', `${info.name} makes films with sound: ${audio}`, 'unsupported_audio_option');
  }
  return wish;
}
