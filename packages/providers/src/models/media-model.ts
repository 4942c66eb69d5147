import type {
  AudioAbilities,
  ImageAbilities,
  ModelInfo,
  VideoAbilities,
  VideoResolution,
} from '@questline/core';

const none = { provider: '', contextWindow: 0, maxOutputTokens: 0 };

/** @param image USD per picture. */
export function imageModel(id: string, name: string, image: number, abilities: ImageAbilities): ModelInfo {
  return { ...none, id, name, type: 'image', image: abilities, prices: { image } };
}

/** @param thousandCharacters USD per thousand characters read out. */
export function speechModel(
  id: string,
  name: string,
  thousandCharacters: number,
  audio: AudioAbilities,
): ModelInfo {
  return { ...none, id, name, type: 'text-to-speech', audio, prices: { thousandCharacters } };
}

/** @param megabyte USD per 2^20 bytes listened to. */
export function transcriptionModel(id: string, name: string, megabyte: number): ModelInfo {
  return { ...none, id, name, type: 'speech-to-text', prices: { megabyte } };
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
