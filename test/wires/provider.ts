import type { ModelInfo, ModelProvider } from '@questline/core/ports';
import { answerParts } from '../support/chat.ts';
import { FILM_MODEL, getVideo } from '../support/generations.ts';
import { IMAGE_MODEL, PICTURE, SOUND_MODELS, toAudio } from '../support/media.ts';
import { createScriptedProvider, SCRIPTED_MODEL } from '../support/model.ts';

/** A call that reached the provider. */
export interface AskedModel {
  readonly model: string;
  readonly apiKey: string | undefined;
}

const VECTORS: ModelInfo = {
  id: 'vectors',
  name: 'Vectors',
  type: 'embedding',
  provider: 'openai',
  contextWindow: 1000,
  maxOutputTokens: 0,
  prices: { input: 100 },
};

const MODELS: readonly ModelInfo[] = [SCRIPTED_MODEL, IMAGE_MODEL, FILM_MODEL, ...SOUND_MODELS, VECTORS].map(
  (model) => ({
    ...model,
    provider: 'openai',
  }),
);

/** A provider of all kinds of models that answers at once, with or without the key of a user. */
export function createRecordingProvider(): {
  readonly provider: ModelProvider;
  readonly asked: readonly AskedModel[];
} {
  const asked: AskedModel[] = [];
  const record = ({ model }: { readonly model: string }, apiKey: string | undefined): void => {
    asked.push({ model, apiKey });
  };
  const text = createScriptedProvider((call) => {
    record(call.request, call.apiKey);
    call.say(...answerParts('Hi'));
    call.end();
  });
  const provider: ModelProvider = {
    id: 'openai',
    models: () => MODELS,
    modelsForOwnKey: () => MODELS,
    generate: text.generate,
    async embed(request, { apiKey }) {
      record(request, apiKey);
      return { embeddings: request.inputs.map(() => [1, 2]), tokens: 1 };
    },
    async speech(request, { apiKey }) {
      record(request, apiKey);
      return toAudio(100);
    },
    async transcribe(request, { apiKey }) {
      record(request, apiKey);
      return { text: 'Hello.' };
    },
    video: {
      async submit(request, { apiKey }) {
        record(request, apiKey);
        return 'job';
      },
      poll: async () => ({ state: 'done', output: 'job', durationSeconds: 4 }),
      fetch: async () => ({ mediaType: 'video/mp4', body: oneChunk(getVideo()) }),
    },
    async image(request, { apiKey }) {
      record(request, apiKey);
      return { images: [PICTURE] };
    },
  };
  return { provider, asked };
}

async function* oneChunk(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}
