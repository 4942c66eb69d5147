import type { Clock } from '../ports/clock.ts';
import type { MediaProvider } from '../ports/media.ts';
import { type ModelInfo, type ModelProvider, ProviderError } from '../ports/models.ts';
import { composeAnswer } from './demo/answer.ts';
import { embedText } from './demo/embedding.ts';
import { paced } from './demo/pace.ts';

export interface DemoProviderOptions {
  /** Without a clock the answer arrives without pauses. */
  readonly clock?: Clock;
  /** Milliseconds before each chunk of an answer, to make streaming visible. Default 30. */
  readonly pauseMs?: number;
  /** Models for images, audio and video: `createDemoMedia()` of `@questline/demo-media`. Default none. */
  readonly media?: MediaProvider & { readonly models: readonly ModelInfo[] };
}

const provider = 'demo';
const dimensions = 512;

/** Invented prices, high enough that a short answer changes the balance visibly. */
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
    description: 'No AI: repeats the message word for word.',
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
    description: 'No AI: texts are similar if they share words or parts of words.',
    contextWindow: 8192,
    maxOutputTokens: 0,
    dimensions,
    prices: { input: 1 },
  },
];

/**
 * A provider with offline models, for evaluation, demonstrations and tests. Needs no key and no network.
 * Deterministic: the same request gets the same answer.
 */
export function createDemoProvider({ clock, pauseMs = 30, media }: DemoProviderOptions = {}): ModelProvider {
  const pause = clock === undefined || pauseMs <= 0 ? undefined : { clock, pauseMs };
  const { models: mediaModels = [], ...mediaCalls } = media ?? {};
  const all = [...models, ...mediaModels];
  return {
    id: provider,
    models: () => all,
    ...mediaCalls,
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
