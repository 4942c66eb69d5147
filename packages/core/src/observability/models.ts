import type { Usage } from '../ports/ledger.ts';
import type { MediaJobs } from '../ports/media.ts';
import type {
  GenerateOptions,
  GenerateRequest,
  ModelChunk,
  ModelPart,
  ModelProvider,
} from '../ports/models.ts';
import { finalizing } from '../shared/streams.ts';
import type { ModelCall, ModelCallEnd, ModelCallSpan, Observer } from './observer.ts';

type Watch = NonNullable<Observer['modelCall']>;
type Verb<R, T> = (request: R, options: GenerateOptions) => Promise<T>;

/** Instruments a provider: reports each call to the observer. */
export function instrumentProvider(provider: ModelProvider, watch: Watch): ModelProvider {
  const begin = (
    kind: ModelCall['kind'],
    request: Partial<Pick<ModelCall, 'model' | 'maxTokens' | 'temperature'>>,
    options: GenerateOptions,
  ): ModelCallSpan | undefined =>
    watch({
      provider: provider.id,
      model: request.model,
      kind,
      ownKey: options.apiKey !== undefined,
      ...(request.maxTokens !== undefined && { maxTokens: request.maxTokens }),
      ...(request.temperature !== undefined && { temperature: request.temperature }),
    });

  const whole =
    <R extends { readonly model: string }, T>(kind: ModelCall['kind'], verb: Verb<R, T>): Verb<R, T> =>
    async (request, options) => {
      const { model } = request;
      return watched(begin(kind, { model }, options), options, () => verb.call(provider, request, options));
    };

  const jobs = <R extends { readonly model: string }>(
    kind: ModelCall['kind'],
    of: MediaJobs<R>,
  ): MediaJobs<R> => ({
    submit: async (request, options) => {
      const { model } = request;
      return watched(begin(kind, { model }, options), options, () => of.submit(request, options));
    },
    poll: (jobId, options) => of.poll(jobId, options),
    fetch: (output, options) => of.fetch(output, options),
    ...(of.cancel !== undefined && {
      cancel: async (jobId: string, options: GenerateOptions) => of.cancel?.(jobId, options),
    }),
  });

  const { ignores, embed, image, speech, soundEffect, music, transcribe, video, musicJobs } = provider;
  return {
    id: provider.id,
    models: () => provider.models(),
    ...(provider.modelsForOwnKey !== undefined && {
      modelsForOwnKey: () => provider.modelsForOwnKey?.() ?? provider.models(),
    }),
    ...(ignores !== undefined && { ignores: (request: GenerateRequest) => ignores.call(provider, request) }),
    async generate(request, options) {
      const span = begin('chat', request, options);
      if (span === undefined) return provider.generate(request, options);
      try {
        return watchedStream(await provider.generate(request, options), span, options);
      } catch (error) {
        span.ended({ outcome: options.signal?.aborted === true ? 'client_closed' : 'failed', error });
        throw error;
      }
    },
    ...(embed !== undefined && {
      embed: async (request, options) =>
        watched(
          begin('embeddings', { model: request.model }, options),
          options,
          () => embed.call(provider, request, options),
          ({ tokens, model }) => ({ usage: { input: tokens }, ...(model !== undefined && { model }) }),
        ),
    }),
    ...(image !== undefined && { image: whole('image', image) }),
    ...(speech !== undefined && { speech: whole('speech', speech) }),
    ...(soundEffect !== undefined && { soundEffect: whole('sound_effect', soundEffect) }),
    ...(music !== undefined && { music: whole('music', music) }),
    ...(transcribe !== undefined && { transcribe: whole('transcription', transcribe) }),
    ...(video !== undefined && { video: jobs('video', video) }),
    ...(musicJobs !== undefined && { musicJobs: jobs('music', musicJobs) }),
    ...(provider.close !== undefined && { close: async () => provider.close?.() }),
  };
}

/** Usage and model from a response. */
type ReportedUsage = Pick<ModelCallEnd, 'usage' | 'model'>;

/** Instruments a call without streaming. */
async function watched<T>(
  watch: ModelCallSpan | undefined,
  { signal }: GenerateOptions,
  work: () => Promise<T>,
  getReport: (answer: T) => ReportedUsage = reportedUsage,
): Promise<T> {
  try {
    const answer = await work();
    watch?.ended({ outcome: 'done', ...getReport(answer) });
    return answer;
  } catch (error) {
    watch?.ended({ outcome: signal?.aborted === true ? 'client_closed' : 'failed', error });
    throw error;
  }
}

function reportedUsage(answer: unknown): ReportedUsage {
  if (typeof answer !== 'object' || answer === null || !('usage' in answer)) return {};
  return answer.usage === undefined ? {} : { usage: answer.usage as Usage };
}

/** Instruments a streamed answer. Reports every kind of end, also before the first read. */
function watchedStream(
  chunks: AsyncIterable<ModelChunk>,
  watch: ModelCallSpan,
  { signal }: GenerateOptions,
): AsyncIterable<ModelChunk> {
  const source = chunks[Symbol.asyncIterator]();
  let hasBegun = false;
  let usage: Usage | undefined;
  let finish: Extract<ModelPart, { type: 'finish' }> | undefined;
  const see = (part: ModelPart): void => {
    if (part.type === 'usage') usage = part.usage;
    else if (part.type === 'finish') finish = part;
  };
  const seen: AsyncIterator<ModelChunk> = {
    async next() {
      const step = await source.next();
      if (step.done === true) return step;
      if (!hasBegun) {
        hasBegun = true;
        watch.began?.();
      }
      if (Array.isArray(step.value)) (step.value as readonly ModelPart[]).forEach(see);
      else see(step.value as ModelPart);
      return step;
    },
    async return() {
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
  return finalizing(seen, (end) => {
    // A reader may stop after the last part, without waiting for the end of the stream.
    const isOver = end.reason === 'done' || finish !== undefined;
    const error = end.reason === 'failed' ? end.error : undefined;
    watch.ended({
      outcome: isOver
        ? 'done'
        : end.reason === 'abandoned' || signal?.aborted === true
          ? 'client_closed'
          : 'failed',
      ...(error !== undefined && { error }),
      ...(usage !== undefined && { usage }),
      ...(finish !== undefined && { finishReason: finish.reason }),
      ...(finish?.model !== undefined && { model: finish.model }),
    });
  });
}
