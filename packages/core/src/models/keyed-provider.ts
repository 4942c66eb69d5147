import type { MediaJobs } from '../ports/media.ts';
import type { GenerateOptions, GenerateRequest, ModelProvider } from '../ports/models.ts';

/**
 * Wraps a provider so that it uses a user's own key: lists the models for that key and passes the key to every call.
 * @param key called once per call.
 */
export function keyedProvider(provider: ModelProvider, key: () => string): ModelProvider {
  const withKey = (options: GenerateOptions): GenerateOptions => ({ ...options, apiKey: key() });
  type Verb<R, T> = (request: R, options: GenerateOptions) => Promise<T>;
  const keyed =
    <R, T>(verb: Verb<R, T>): Verb<R, T> =>
    async (request, options) =>
      verb.call(provider, request, withKey(options));
  const jobs = <R>(of: MediaJobs<R>): MediaJobs<R> => ({
    submit: async (request, options) => of.submit(request, withKey(options)),
    poll: async (jobId, options) => of.poll(jobId, withKey(options)),
    fetch: async (output, options) => of.fetch(output, withKey(options)),
    ...(of.cancel !== undefined && {
      cancel: async (jobId: string, options: GenerateOptions) => of.cancel?.(jobId, withKey(options)),
    }),
  });
  const { ignores, embed, image, speech, soundEffect, music, transcribe, video, musicJobs } = provider;
  return {
    id: provider.id,
    models: () => provider.modelsForOwnKey?.() ?? provider.models(),
    generate: keyed(provider.generate),
    ...(ignores !== undefined && { ignores: (request: GenerateRequest) => ignores.call(provider, request) }),
    ...(embed !== undefined && { embed: keyed(embed) }),
    ...(image !== undefined && { image: keyed(image) }),
    ...(speech !== undefined && { speech: keyed(speech) }),
    ...(soundEffect !== undefined && { soundEffect: keyed(soundEffect) }),
    ...(music !== undefined && { music: keyed(music) }),
    ...(transcribe !== undefined && { transcribe: keyed(transcribe) }),
    ...(video !== undefined && { video: jobs(video) }),
    ...(musicJobs !== undefined && { musicJobs: jobs(musicJobs) }),
  };
}
