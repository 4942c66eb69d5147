import type { GenerateOptions, GenerateRequest, ModelChunk } from '@questline/core/ports';
import { AnswerReader, type StreamPart } from './answer.ts';
import { olderCall, toCall } from './call.ts';
import { toChunks } from './chunks.ts';
import { providerError } from './errors.ts';
import type { AiSdkCall, AiSdkLanguageModel, AiSdkModel } from './models.ts';

/** For a call that is not made. */
const NEVER = new AbortController().signal;

export interface GenerateInput extends GenerateOptions {
  /** For error messages. */
  readonly provider: string;
  readonly prepare: AiSdkModel['prepare'];
}

/** Calls a language model. Rejects with a `ProviderError`, or with the signal's reason. */
export async function generate(
  model: AiSdkLanguageModel,
  request: GenerateRequest,
  { provider, prepare, apiKey, signal }: GenerateInput,
): Promise<AsyncIterable<ModelChunk>> {
  signal?.throwIfAborted();
  const work = new AbortController();
  const failure = (error: unknown) => providerError(error, provider, apiKey === undefined ? [] : [apiKey]);
  try {
    const call = toCall(model, request, work.signal);
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

/** The call as the model gets it, in the version of its interface. */
export function toVersionedCall(
  model: AiSdkLanguageModel,
  request: GenerateRequest,
  prepare: AiSdkModel['prepare'],
): Partial<AiSdkCall> {
  const call = toCall(model, request, NEVER);
  const prepared = prepare?.(call, request) ?? call;
  return model.specificationVersion === 'v4' ? prepared : (olderCall(prepared) as Partial<AiSdkCall>);
}

async function start(model: AiSdkLanguageModel, call: AiSdkCall): Promise<ReadableStream<StreamPart>> {
  const { stream } =
    model.specificationVersion === 'v4' ? await model.doStream(call) : await model.doStream(olderCall(call));
  return stream as ReadableStream<StreamPart>;
}

/** Rejects as soon as the signal aborts, even if the model ignores it; discards a stream that arrives later. */
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
    signal.addEventListener('abort', aborted);
    started
      .then((stream) => {
        if (signal.aborted) stream.cancel(signal.reason).catch(() => {});
        resolve(stream);
      }, reject)
      .finally(() => signal.removeEventListener('abort', aborted));
  });
}
