import { createServer, type IncomingMessage } from 'node:http';
import { inspect } from 'node:util';
import type { GenerateOptions, MediaJobs, ModelProvider } from '@questline/core/ports';
import type { ProviderOptions } from '@questline/providers';
import { createAnthropicProvider } from '@questline/providers/anthropic';
import { createOpenAICompatibleProvider } from '@questline/providers/compatible';
import { createElevenLabsProvider } from '@questline/providers/elevenlabs';
import { createGeminiProvider } from '@questline/providers/gemini';
import { createOpenAIProvider } from '@questline/providers/openai';
import { createXAIProvider } from '@questline/providers/xai';
import { describe, expect, it } from 'vitest';
import { drain, hello } from './collect.ts';
import { later } from './set-up.ts';

const PLATFORM_KEY = 'sk-platform-secret-4711';
const OWN_KEY = 'sk-own-secret-0815';

const PROVIDERS: Readonly<Record<string, (options: ProviderOptions) => ModelProvider>> = {
  openai: (options) => createOpenAIProvider(options),
  'openai over chat completions': (options) => createOpenAIProvider({ ...options, protocol: 'chat' }),
  compatible: (options) =>
    createOpenAICompatibleProvider({ ...options, id: 'local', baseUrl: options.baseUrl ?? '', models: [] }),
  anthropic: createAnthropicProvider,
  gemini: createGeminiProvider,
  xai: createXAIProvider,
  elevenlabs: createElevenLabsProvider,
};

/** Undefined: the provider does not offer it. */
type Call = (provider: ModelProvider) => ((options: GenerateOptions) => Promise<unknown>) | undefined;

const MEDIA = { mediaType: 'image/png', data: Buffer.from('a picture') };
const IMAGE = { model: 'm', prompt: 'A cat', count: 1 };
const MUSIC = { model: 'm', prompt: 'A song', lengthMs: 10_000, format: 'mp3' } as const;
const VIDEO = { model: 'm', prompt: 'A cat', durationSeconds: 4, aspectRatio: '16:9', resolution: '720p' };

const jobs = <R>(name: string, get: (provider: ModelProvider) => MediaJobs<R> | undefined, request: R) => {
  const list: Readonly<Record<string, (made: MediaJobs<R>, options: GenerateOptions) => unknown>> = {
    submit: (made, options) => made.submit(request, options),
    poll: (made, options) => made.poll('job_1', options),
    cancel: (made, options) => made.cancel?.('job_1', options),
    fetch: (made, options) => made.fetch('job_1', options),
  };
  return Object.entries(list).map(([step, call]): readonly [string, Call] => [
    `${name}.${step}`,
    (provider) => {
      const made = get(provider);
      return made && (async (options) => call(made, options));
    },
  ]);
};

const method = <K extends 'embed' | 'image' | 'speech' | 'soundEffect' | 'music' | 'transcribe'>(
  name: K,
  request: Parameters<NonNullable<ModelProvider[K]>>[0],
  title: string = name,
): readonly [string, Call] => [
  title,
  (provider) => {
    const call = provider[name]?.bind(provider) as
      | ((request: unknown, options: GenerateOptions) => Promise<unknown>)
      | undefined;
    return call && ((options) => call(request, options));
  },
];

const CALLS: readonly (readonly [string, Call])[] = [
  ['generate', (provider) => async (options) => drain(await provider.generate(hello, options))],
  method('embed', { model: 'm', inputs: ['a'] }),
  method('image', IMAGE),
  method('image', { ...IMAGE, source: MEDIA }, 'image of an image'),
  method('speech', { model: 'm', text: 'Hi', format: 'mp3' }),
  method('soundEffect', { model: 'm', text: 'A bell', format: 'mp3' }),
  method('music', MUSIC),
  method('transcribe', { model: 'm', audio: { ...MEDIA, mediaType: 'audio/ogg' } }),
  ...jobs('video', ({ video }) => video, VIDEO),
  ...jobs('musicJobs', ({ musicJobs }) => musicJobs, MUSIC),
];

/** A vendor that answers with the headers of the request. */
async function startEcho(status: number): Promise<{ baseUrl: string; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    const echo = JSON.stringify(request.headers);
    seen.push(echo);
    request.resume().on('end', () => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ error: { message: echo, status: 'X', code: echo, type: echo }, detail: echo }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  later(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  return { baseUrl: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, seen };
}

describe.each(Object.entries(PROVIDERS))('errors of %s', (_, create) => {
  const unused = create({ apiKey: PLATFORM_KEY, baseUrl: 'http://127.0.0.1:9' });
  const offered = CALLS.filter(([, call]) => call(unused) !== undefined);

  it.each(offered)('never contain the key of a call: %s', async (_call, getCall) => {
    for (const status of [400, 401, 404, 429, 500, 200]) {
      const { baseUrl, seen } = await startEcho(status);
      const provider = create({ apiKey: PLATFORM_KEY, baseUrl });
      later(async () => provider.close?.());
      for (const [key, options] of [
        [PLATFORM_KEY, {}],
        [OWN_KEY, { apiKey: OWN_KEY }],
      ] as const) {
        const before = seen.length;
        const error = await getCall(provider)?.(options).catch((reason: unknown) => reason);
        expect(inspect(error instanceof Error ? error : undefined, { depth: 20 })).not.toContain(key);
        for (const sent of seen.slice(before)) expect(sent).toContain(key);
      }
    }
  });
});
