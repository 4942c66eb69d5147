import type { ModelProvider } from '@questline/core/ports';
import { ProviderError } from '@questline/core/ports';
import { createUpstream } from '../http/upstream.ts';
import { elevenLabsModels } from '../models/elevenlabs.ts';
import { getKey, headersByKey, knownModels, type ProviderOptions } from '../options.ts';
import { readElevenLabsError } from './errors.ts';
import { outputFormat, toAudio } from './formats.ts';

export interface ElevenLabsProviderOptions extends ProviderOptions {
  /** The id of the default voice. Default: Rachel. */
  readonly voice?: string;
}

const RACHEL = '21m00Tcm4TlvDq8ikWAM';

/**
 * ElevenLabs: speech, sound effects and music.
 * @throws TypeError when `baseUrl` is no URL.
 */
export function createElevenLabsProvider(options: ElevenLabsProviderOptions = {}): ModelProvider {
  const { apiKey, id = 'elevenlabs', baseUrl = 'https://api.elevenlabs.io/v1', voice = RACHEL } = options;
  const upstream = createUpstream(id, baseUrl, readElevenLabsError, options);
  const known = knownModels(id, elevenLabsModels, options);
  const offered = apiKey ? known : [];
  const headers = headersByKey(options, (key) => ({ 'xi-api-key': key }));

  return {
    id,
    models: () => offered,
    modelsForOwnKey: () => known,

    async generate() {
      throw new ProviderError('invalid_request', `${id}: has no models that write text`);
    },

    async speech({ model, text, format, ...request }, { signal, ...call }) {
      const key = getKey(id, apiKey, call);
      const settings = {
        ...(request.stability !== undefined && { stability: request.stability }),
        ...(request.similarityBoost !== undefined && { similarity_boost: request.similarityBoost }),
      };
      const body = JSON.stringify({
        text,
        model_id: model,
        ...(Object.keys(settings).length > 0 && { voice_settings: settings }),
        ...(request.languageCode !== undefined && { language_code: request.languageCode }),
      });
      const reader = encodeURIComponent(request.voice ?? voice);
      const path = `/text-to-speech/${reader}?output_format=${outputFormat(format)}`;
      const { data } = await upstream.bytes({ path, headers: headers(key), body, key, signal });
      return toAudio(format, data);
    },

    async soundEffect({ text, durationSeconds, promptInfluence, format, model }, { signal, ...call }) {
      const key = getKey(id, apiKey, call);
      const body = JSON.stringify({
        text,
        model_id: model,
        ...(durationSeconds !== undefined && { duration_seconds: durationSeconds }),
        ...(promptInfluence !== undefined && { prompt_influence: promptInfluence }),
      });
      const path = `/sound-generation?output_format=${outputFormat(format)}`;
      const { data } = await upstream.bytes({ path, headers: headers(key), body, key, signal });
      return toAudio(format, data);
    },

    async music({ prompt, lengthMs, instrumental, format, model }, { signal, ...call }) {
      const key = getKey(id, apiKey, call);
      const body = JSON.stringify({
        prompt,
        music_length_ms: lengthMs,
        model_id: model,
        ...(instrumental !== undefined && { force_instrumental: instrumental }),
      });
      const path = `/music?output_format=${outputFormat(format)}`;
      const { data } = await upstream.bytes({ path, headers: headers(key), body, key, signal });
      return toAudio(format, data);
    },

    close: () => upstream.close(),
  };
}
