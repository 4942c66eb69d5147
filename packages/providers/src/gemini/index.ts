import { findIgnoredFields, type ModelProvider } from '@questline/core/ports';
import { createUpstream } from '../http/upstream.ts';
import { geminiModels } from '../models/gemini.ts';
import { getKey, headersByKey, knownModels, type ProviderOptions } from '../options.ts';
import { embeddingBody, embeddingResult } from './embeddings.ts';
import { readGeminiError } from './errors.ts';
import { ContentDecoder } from './events.ts';
import { pictureBody, toImage } from './images.ts';
import { contentBody } from './request.ts';
import { createVideos } from './videos.ts';

/*
 * Follows `generateContent` of v1beta (https://ai.google.dev/api/generate-content), function
 * calling (https://ai.google.dev/gemini-api/docs/function-calling), thinking and its levels (…/docs/thinking), thought
 * signatures (…/docs/thought-signatures). The API caches prefixes by itself: hints for the cache have no effect.
 */

export type GeminiProviderOptions = ProviderOptions;

/** The vendor recommends 15 to 20 minutes for its largest models with thinking. */
const PATIENT_MS = 1_200_000;

/**
 * Google's Gemini API. Times to the first byte and between two reads are 20 minutes unless given.
 * @throws TypeError when `baseUrl` is no URL.
 */
export function createGeminiProvider(options: GeminiProviderOptions = {}): ModelProvider {
  const { apiKey, id = 'gemini', baseUrl = 'https://generativelanguage.googleapis.com/v1beta' } = options;
  const upstream = createUpstream(id, baseUrl, readGeminiError, {
    firstByteTimeoutMs: PATIENT_MS,
    idleTimeoutMs: PATIENT_MS,
    ...options,
  });
  const known = knownModels(id, geminiModels, options);
  const offered = apiKey ? known : [];
  // In a header: URLs appear in logs.
  const headers = headersByKey(options, (key) => ({ 'x-goog-api-key': key }));
  const address = (model: string) => `/models/${encodeURIComponent(model)}`;

  return {
    id,
    models: () => offered,
    modelsForOwnKey: () => known,

    async generate(request, call) {
      const key = getKey(id, apiKey, call);
      const path = `${address(request.model)}:streamGenerateContent?alt=sse`;
      const body = JSON.stringify(contentBody(request, id));
      return upstream.stream(
        { path, headers: headers(key), body, key, signal: call.signal },
        (faults) => new ContentDecoder(faults),
      );
    },

    ignores: (request) => findIgnoredFields(request, (one) => contentBody(one, id)),

    async embed(request, call) {
      const key = getKey(id, apiKey, call);
      const path = `${address(request.model)}:batchEmbedContents`;
      const body = JSON.stringify(embeddingBody(request));
      const answer = await upstream.json({ path, headers: headers(key), body, key, signal: call.signal });
      return embeddingResult(answer, request.inputs);
    },

    async image(request, { signal, ...call }) {
      const key = getKey(id, apiKey, call);
      const path = `${address(request.model)}:generateContent`;
      const body = pictureBody(request);
      const draw = async () =>
        toImage(await upstream.json({ path, headers: headers(key), body, key, signal }));
      const drawn = await Promise.allSettled(Array.from({ length: request.count }, draw));
      signal?.throwIfAborted();
      const made = drawn.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      // Some images are enough: the errors of the others are ignored.
      if (made.length === 0) throw (drawn[0] as PromiseRejectedResult).reason;
      const sum = (name: 'input' | 'output') =>
        made.reduce((all, { usage }) => all + (usage?.[name] ?? 0), 0);
      const isCounted = made.some(({ usage }) => usage !== undefined);
      return {
        images: made.map(({ picture }) => picture),
        ...(isCounted && { usage: { input: sum('input'), output: sum('output') } }),
      };
    },

    video: createVideos(upstream, (call) => {
      const key = getKey(id, apiKey, call);
      return { key, headers: headers(key) };
    }),

    close: () => upstream.close(),
  };
}
