import type { GenerateOptions, GenerateRequest, ModelChunk } from '@questline/core';
import { AnswerReader, type StreamPart } from './answer.ts';
import { callOf, olderCall } from './call.ts';
import { toChunks } from './chunks.ts';
import { providerError } from './errors.ts';
import type { AiSdkCall, AiSdkLanguageModel, AiSdkModel } from './models.ts';

export interface GenerateTerms extends GenerateOptions {
  /** For error texts. */
  readonly provider: string;
  readonly prepare: AiSdkModel['prepare'];
}

/** Asks a language model. Rejects with a `ProviderError`, or with the signal's reason. */
export async function generate(
  model: AiSdkLanguageModel,
  request: GenerateRequest,
  { provider, prepare, apiKey, signal }: GenerateTerms,
): Promise<AsyncIterable<ModelChunk>> {
  signal?.throwIfAborted();
  const work = new AbortController();
  const failure = (error: unknown) => providerError(error, provider, apiKey === undefined ? [] : [apiKey]);
  try {
    const call = callOf(model, request, work.signal);
    const stream = await unlessAborted(start(model, prepare?.(call, request) ?? call), signal, work);
    return toChunks(stream, {
      answer: new AnswerReader(model.provider),
      failure,
      stop: (reason) => work.abort(reason),
      signal,
    });
  } catch (error) {
    throw signal?.aborted ? signal.reason : failure(error);
  }
}

async function start(model: AiSdkLanguageModel, call: AiSdkCall): Promise<ReadableStream<StreamPart>> {
  const { stream } =
    model.specificationVersion === 'v4' ? await model.doStream(call) : await model.doStream(olderCall(call));
  return stream as ReadableStream<StreamPart>;
}

/** Follows the signal at once, whether the model does or not; a stream that comes too late is thrown away. */
function unlessAborted(
  started: Promise<ReadableStream<StreamPart>>,
  signal: AbortSignal | undefined,
  work: AbortController,
): Promise<ReadableStream<StreamPart>> {
  if (signal === undefined) return started;
  return new Promise((resolve, reject) => {
    const aborted = () => {
      work.abort(signal.reason);
      reject(signal.reason);
    };
    signal.addEventListener('abort', aborted, { once: true });
    started
      .then((stream) => {
        if (signal.aborted) stream.cancel(signal.reason).catch(() => {});
        resolve(stream);
      }, reject)
      .finally(() => signal.removeEventListener('abort', aborted));
  });
}
