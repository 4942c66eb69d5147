import { type ModelInfo, type ModelProvider, ProviderError, type WebTools } from '@questline/core';
import { embed } from './embed.ts';
import { generate } from './generate.ts';
import { drawImages, speak, writeDown } from './media.ts';
import { type AiSdkMediaModel, checkModelOf, type MediaModelOf, mediaInfoOf } from './media-models.ts';
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
  /** Models that make pictures, speech and films, and that write speech down. */
  readonly media?: readonly AiSdkMediaModel[];
  /**
   * Fetches films from where the vendor put them: `createWebTools({ timeoutMs }).fetchFile` of `@questline/providers/web`
   * does, from the open internet only. Needed for video models.
   */
  readonly fetchFile?: NonNullable<WebTools['fetchFile']>;
}

/**
 * Makes models of the AI SDK provider interface a Questline provider. Language models are streamed through `doStream`,
 * embedding models called through `doEmbed`, both without the SDK's own helpers in between.
 * @throws TypeError for a model of a version that is not supported, or two of one id.
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
    checkModelOf(entry, entry.model);
    if (entry.type === 'video' && fetchFile === undefined) {
      throw new TypeError(`Model '${entry.id}' makes films: say with fetchFile how they are fetched`);
    }
    if (byId.has(entry.id) || mediaById.has(entry.id)) {
      throw new TypeError(`Two models have the id '${entry.id}'`);
    }
    mediaById.set(entry.id, entry);
  }
  const infos = [
    ...models.map((entry) => infoOf(id, entry)),
    ...media.map((entry) => mediaInfoOf(id, entry)),
  ];

  function findMedia<Type extends AiSdkMediaModel['type']>(type: Type, name: string): MediaModelOf<Type> {
    const entry = mediaById.get(name);
    if (entry?.type === type) return entry as MediaModelOf<Type>;
    throw new ProviderError('invalid_request', `${id}: there is no model '${name}' of type ${type}`);
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
        throw new ProviderError('invalid_request', `${id}: '${request.model}' is no language model`);
      }
      return generate(model, request, { ...options, provider: id, prepare: entry.prepare });
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
        throw new ProviderError('invalid_request', `${id}: '${request.model}' is no embedding model`);
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
  // Falling back to the platform's key would make the platform pay for what the user meant to pay for.
  if (entry.withKey === undefined) {
    throw new ProviderError('not_configured', `${provider}: '${entry.id}' takes no keys of users`);
  }
  const model = entry.withKey(apiKey);
  checkModel(entry.id, model);
  return model;
}

function infoOf(provider: string, entry: AiSdkModel): ModelInfo {
  const { model, withKey: _, prepare: __, ...fields } = entry;
  return isLanguageModel(model)
    ? { name: entry.id, supportsStreaming: true, ...fields, type: 'text', provider }
    : { name: entry.id, ...fields, type: 'embedding', provider };
}
