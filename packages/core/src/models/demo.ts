import type { Clock } from '../ports/clock.ts';
import { type ModelInfo, type ModelProvider, ProviderError } from '../ports/models.ts';
import { composeAnswer } from './demo/answer.ts';
import { embedText } from './demo/embedding.ts';
import { demoFilms } from './demo/film.ts';
import { demoMedia } from './demo/media.ts';
import { demoMediaModels } from './demo/media-models.ts';
import { paced } from './demo/pace.ts';

export interface DemoProviderOptions {
  /** Without a clock the whole answer is there at once. */
  readonly clock?: Clock;
  /** Milliseconds before each piece of an answer, so that one sees it arrive. Default 30. */
  readonly pauseMs?: number;
}

const provider = 'demo';
const dimensions = 512;

/** Prices are made up, and high enough that a short answer moves the balance visibly. */
const models: readonly ModelInfo[] = [
  {
    id: 'demo-chat',
    name: 'Demo chat (offline)',
    type: 'text',
    provider,
    description:
      'No AI: a script that answers offline, calls tools when asked to, and names the images it gets.',
    contextWindow: 128_000,
    maxOutputTokens: 8192,
    supportsStreaming: true,
    supportsThinking: true,
    supportsTools: true,
    supportsVision: true,
    prices: { input: 5, output: 25 },
  },
  {
    id: 'demo-echo',
    name: 'Demo echo (offline)',
    type: 'text',
    provider,
    description: 'No AI: says back what it was told, word for word.',
    contextWindow: 128_000,
    maxOutputTokens: 8192,
    supportsStreaming: true,
    prices: { input: 5, output: 25 },
  },
  {
    id: 'demo-embedding',
    name: 'Demo embedding (offline)',
    type: 'embedding',
    provider,
    description: 'No AI: texts are near each other when they share words, or pieces of words.',
    contextWindow: 8192,
    maxOutputTokens: 0,
    dimensions,
    prices: { input: 1 },
  },
  ...demoMediaModels,
];

/**
 * Models that need no key and no network, and say so: for a first look, for demonstrations and for tests. The same
 * question gets the same answer, always.
 */
export function createDemoProvider({ clock, pauseMs = 30 }: DemoProviderOptions = {}): ModelProvider {
  const pause = clock === undefined || pauseMs <= 0 ? undefined : { clock, pauseMs };
  return {
    id: provider,
    models: () => models,
    ...demoMedia,
    video: demoFilms(pause),
    async generate(request, { signal }) {
      signal?.throwIfAborted();
      if (request.model !== 'demo-chat' && request.model !== 'demo-echo') {
        throw new ProviderError('invalid_request', `The demo provider has no text model '${request.model}'`);
      }
      return paced(composeAnswer(request), pause, signal);
    },
    async embed(request, { signal }) {
      signal?.throwIfAborted();
      if (request.model !== 'demo-embedding') {
        throw new ProviderError(
          'invalid_request',
          `The demo provider has no embedding model '${request.model}'`,
        );
      }
      const size = request.dimensions ?? dimensions;
      const texts = request.inputs.map((input) => embedText(input, size));
      return {
        embeddings: texts.map((text) => text.embedding),
        tokens: texts.reduce((sum, text) => sum + text.tokens, 0),
      };
    },
  };
}
