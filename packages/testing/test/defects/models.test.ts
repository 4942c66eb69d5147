import type { GenerateRequest, ModelChunk, ModelPart, ModelProvider } from '@questline/core/ports';
import { createFakeClock, fakeTime, type ModelsSubject, modelsCases } from '@questline/testing';
import { getStage } from '../stage.ts';
import { type Defect, defectTests } from './red.ts';

function defect(
  name: string,
  red: readonly string[],
  spoil: (sound: ModelProvider) => Partial<ModelProvider>,
): Defect<ModelsSubject> {
  return {
    name,
    red,
    create: async () => ({
      stage: async (scenario) => {
        const stage = getStage(scenario);
        return { ...stage, provider: { ...stage.provider, ...spoil(stage.provider) } };
      },
      time: fakeTime(createFakeClock()),
    }),
  };
}

/** Changes every part of a stream; undefined omits it. */
function changing(change: (part: ModelPart) => ModelPart | undefined) {
  return (sound: ModelProvider): Partial<ModelProvider> => ({
    async generate(request, options) {
      const stream = await sound.generate(request, options);
      const iterator = stream[Symbol.asyncIterator]();
      const changed: AsyncIterableIterator<ModelChunk> = {
        [Symbol.asyncIterator]: () => changed,
        async next() {
          const step = await iterator.next();
          if (step.done === true) return step;
          const parts = 'type' in step.value ? [step.value] : step.value;
          return { done: false, value: parts.flatMap((part) => change(part) ?? []) };
        },
        async return() {
          await iterator.return?.();
          return { done: true, value: undefined };
        },
      };
      return changed;
    },
  });
}

/** Changes every request before it is passed on. */
function asking(change: (request: GenerateRequest) => GenerateRequest) {
  return (sound: ModelProvider): Partial<ModelProvider> => ({
    generate: (request, options) => sound.generate(change(request), options),
  });
}

defectTests('model provider', modelsCases, [
  defect(
    'omits the tools where they may not be used',
    ['tools stay in a request that forbids their use'],
    asking(({ tools, ...request }) =>
      request.toolChoice === 'none' || tools === undefined ? request : { ...request, tools },
    ),
  ),
  defect(
    'chooses tools by itself',
    ['tools stay in a request that forbids their use', 'the choice of a tool reaches the upstream'],
    asking(({ toolChoice: _, ...request }) => request),
  ),
  defect(
    'calls tools in parallel by default',
    ['the choice of a tool reaches the upstream'],
    asking(({ parallelToolCalls: _, ...request }) => request),
  ),
  defect(
    'forgets a stop',
    ['sampling reaches the upstream where it has a place for it'],
    asking(({ stop, ...request }) => ({ ...request, ...(stop && { stop: stop.slice(0, 1) }) })),
  ),
  defect(
    'caches uncacheable content',
    ['the key of a prompt cache is sent, unless caching is off'],
    asking((request) => {
      const { promptCache } = request;
      return promptCache === undefined
        ? request
        : { ...request, promptCache: { ...promptCache, mode: 'auto' } };
    }),
  ),
  defect(
    'loses a part of a call',
    ['reports progress of tool calls that adds up to the calls'],
    changing((part) =>
      part.type === 'tool_use_delta' && part.name === undefined
        ? { ...part, arguments: part.arguments.slice(1) }
        : part,
    ),
  ),
  defect(
    'counts calls from 1',
    ['reports progress of tool calls that adds up to the calls'],
    changing((part) => (part.type === 'tool_use_delta' ? { ...part, index: part.index + 1 } : part)),
  ),
  defect(
    'mixes thoughts into the text',
    ['separates reasoning from text, in blocks with a type'],
    changing((part) => (part.type === 'thinking_delta' ? { type: 'text', text: part.text } : part)),
  ),
  defect(
    'does not pass the signal on',
    [
      'ends at once on both sides when aborted during silence',
      'ends at once on both sides when aborted during the answer',
    ],
    (sound) => ({ generate: (request) => sound.generate(request, {}) }),
  ),
  defect(
    'continues when its stream is left',
    [
      'stops the upstream when the stream is left during the answer',
      'stops the upstream when the stream is left before the first read',
    ],
    (sound) => ({
      async generate(request, options) {
        const iterator = (await sound.generate(request, options))[Symbol.asyncIterator]();
        const kept = { next: () => iterator.next(), [Symbol.asyncIterator]: () => kept };
        return kept;
      },
    }),
  ),
  defect(
    'is a generator whose cleanup is skipped before it starts',
    ['stops the upstream when the stream is left before the first read'],
    (sound) => ({
      async generate(request, options) {
        const stream = await sound.generate(request, options);
        return (async function* () {
          yield* stream;
        })();
      },
    }),
  ),
  defect(
    'treats a broken connection as the end',
    ['fails after the delivered text when an answer breaks off'],
    (sound) => ({
      async generate(request, options) {
        const stream = await sound.generate(request, options);
        return (async function* () {
          try {
            yield* stream;
          } catch (error) {
            if (options.signal?.aborted === true) throw error;
          }
        })();
      },
    }),
  ),
  defect(
    'decodes every chunk by itself',
    ['delivers text in order, character by character', 'keeps parallel answers apart'],
    changing((part) => {
      if (part.type !== 'text') return part;
      const bytes = Buffer.from(part.text);
      return { ...part, text: bytes.subarray(0, 3).toString() + bytes.subarray(3).toString() };
    }),
  ),
  defect(
    'hides usage',
    ['reports usage, of which the last counts, and one finish reason'],
    changing((part) => (part.type === 'usage' ? undefined : part)),
  ),
  defect(
    'reports every end as a stop',
    ['reports an answer cut at the limit'],
    changing((part) => (part.type === 'finish' ? { type: 'finish', reason: 'stop' } : part)),
  ),
  defect(
    'reports only that it failed',
    ['rejects with overloaded before any stream when the upstream does'],
    (sound) => ({
      generate: (request, options) =>
        sound.generate(request, options).catch((error: unknown) => {
          if (options.signal?.aborted === true) throw error;
          throw new Error('failed');
        }),
    }),
  ),
]);
