import {
  findIgnoredFields,
  type ModelInfo,
  type ModelProvider,
  ProviderError,
  type WebTools,
} from '@questline/core/ports';
import { embed } from './embed.ts';
import { generate, toVersionedCall } from './generate.ts';
import { drawImages, speak, writeDown } from './media.ts';
import {
  type AiSdkMediaModel,
  checkMediaModel,
  getMediaInfo,
  type MediaModelByType,
} from './media-models.ts';
import {
  type AiSdkEmbeddingModel,
  type AiSdkLanguageModel,
  type AiSdkModel,
  checkModel,
  isLanguageModel,
} from './models.ts';
import { createVideos } from './videos.ts';

export interface AiSdkProviderOptions {
  /** The provider's id in the catalogue. */
  readonly id: string;
  readonly models: readonly AiSdkModel[];
  /** Image, speech, video and transcription models. */
  readonly media?: readonly AiSdkMediaModel[];
  /**
   * Fetches a generated video from the vendor's URL. `createWebTools({ timeoutMs }).fetchFile` of
   * `@questline/providers/web` does so, from the public internet only. Required for video models.
   */
  readonly fetchFile?: NonNullable<WebTools['fetchFile']>;
}

/**
 * Turns models of the AI SDK provider interface into a Questline provider. Calls `doStream` of language models and
 * `doEmbed` of embedding models directly, without the SDK's helpers.
 * @throws TypeError for a model of an unsupported version, and for a duplicate id.
 */
export function createAiSdkProvider({
  id,
  models,
  media = [],
  fetchFile,
}: AiSdkProviderOptions): ModelProvider {
  const byId = new Map<string, AiSdkModel>();
  for (const entry of models) {
    checkModel(entry.id, entry.model);
    if (byId.has(entry.id)) throw new TypeError(`Two models have the id '${entry.id}'`);
    byId.set(entry.id, entry);
  }
  const mediaById = new Map<string, AiSdkMediaModel>();
  for (const entry of media) {
    checkMediaModel(entry, entry.model);
    if (entry.type === 'video' && fetchFile === undefined) {
      throw new TypeError(`Video model '${entry.id}' requires the option fetchFile`);
    }
    if (byId.has(entry.id) || mediaById.has(entry.id)) {
      throw new TypeError(`Two models have the id '${entry.id}'`);
    }
    mediaById.set(entry.id, entry);
  }
  const infos = [
    ...models.map((entry) => getInfo(id, entry)),
    ...media.map((entry) => getMediaInfo(id, entry)),
  ];

  function findMedia<Type extends AiSdkMediaModel['type']>(type: Type, name: string): MediaModelByType<Type> {
    const entry = mediaById.get(name);
    if (entry?.type === type) return entry as MediaModelByType<Type>;
    throw new ProviderError('invalid_request', `${id}: there is no ${type} model '${name}'`);
  }

  function find(name: string): AiSdkModel {
    const entry = byId.get(name);
    if (entry === undefined) throw new ProviderError('invalid_request', `${id}: there is no model '${name}'`);
    return entry;
  }

  return {
    id,
    models: () => infos,
    async generate(request, options) {
      const entry = find(request.model);
      const model = keyed(id, entry, options.apiKey);
      if (!isLanguageModel(model)) {
        throw new ProviderError('invalid_request', `${id}: '${request.model}' is not a language model`);
      }
      return generate(model, request, { ...options, provider: id, prepare: entry.prepare });
    },
    ignores(request) {
      const { model, prepare } = find(request.model);
      if (!isLanguageModel(model)) return [];
      return findIgnoredFields(request, (one) => {
        const { abortSignal: _, ...call } = toVersionedCall(model, one, prepare);
        return call;
      });
    },
    async image(request, options) {
      return drawImages(findMedia('image', request.model), request, { ...options, provider: id });
    },
    async speech(request, options) {
      return speak(findMedia('text-to-speech', request.model), request, { ...options, provider: id });
    },
    async transcribe(request, options) {
      return writeDown(findMedia('speech-to-text', request.model), request, { ...options, provider: id });
    },
    ...(fetchFile !== undefined && {
      video: createVideos({ provider: id, find: (name) => findMedia('video', name), fetchFile }),
    }),
    async embed(request, options) {
      const model = keyed(id, find(request.model), options.apiKey);
      if (isLanguageModel(model)) {
        throw new ProviderError('invalid_request', `${id}: '${request.model}' is not an embedding model`);
      }
      return embed(model, request, { ...options, provider: id });
    },
  };
}

function keyed(
  provider: string,
  entry: AiSdkModel,
  apiKey: string | undefined,
): AiSdkLanguageModel | AiSdkEmbeddingModel {
  if (apiKey === undefined) return entry.model;
  // Falling back to the platform's key would charge the platform for the user's call.
  if (entry.withKey === undefined) {
    throw new ProviderError('not_configured', `${provider}: '${entry.id}' does not support user keys`);
  }
  const model = entry.withKey(apiKey);
  checkModel(entry.id, model);
  return model;
}

function getInfo(provider: string, entry: AiSdkModel): ModelInfo {
  const { model, withKey: _, prepare: __, ...fields } = entry;
  return isLanguageModel(model)
    ? { name: entry.id, supportsStreaming: true, ...fields, type: 'text', provider }
    : { name: entry.id, ...fields, type: 'embedding', provider };
}
