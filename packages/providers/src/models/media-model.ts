import type {
  AudioAbilities,
  ImageAbilities,
  ModelInfo,
  ModelPrices,
  VideoAbilities,
  VideoResolution,
} from '@questline/core/ports';

const none = { provider: '', contextWindow: 0, maxOutputTokens: 0 };

/** @param prices USD: per image, or per million tokens of a model that counts them. */
export function imageModel(
  id: string,
  name: string,
  prices: Pick<ModelPrices, 'image' | 'input' | 'output'>,
  abilities: ImageAbilities,
): ModelInfo {
  return { ...none, id, name, type: 'image', image: abilities, prices };
}

/** @param thousandCharacters USD per thousand characters of input. */
export function speechModel(
  id: string,
  name: string,
  thousandCharacters: number,
  audio: AudioAbilities,
): ModelInfo {
  return { ...none, id, name, type: 'text-to-speech', audio, prices: { thousandCharacters } };
}

/** A megabyte of speech is rarely more than two minutes. */
const MINUTES_PER_MEGABYTE = 2;

/** @param minute USD per minute of a recording. Where the vendor reports no duration, the size of the recording counts. */
export function transcriptionModel(id: string, name: string, minute: number): ModelInfo {
  const prices = { second: minute / 60, megabyte: minute * MINUTES_PER_MEGABYTE };
  return { ...none, id, name, type: 'speech-to-text', prices };
}

/** @param prices USD per second, by resolution: of all that the model can do. */
export function videoModel(
  id: string,
  name: string,
  prices: Readonly<Partial<Record<VideoResolution, number>>>,
  abilities: Omit<VideoAbilities, 'resolutions'>,
): ModelInfo {
  const resolutions = Object.keys(prices) as VideoResolution[];
  return {
    ...none,
    id,
    name,
    type: 'video',
    video: { ...abilities, resolutions },
    prices: { second: Math.max(...Object.values(prices)), secondByResolution: prices },
  };
}
