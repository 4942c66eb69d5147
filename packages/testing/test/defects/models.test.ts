import type { ModelChunk, ModelPart, ModelProvider } from '@questline/core';
import { createFakeClock, fakeTime, type ModelsSubject, modelsCases } from '@questline/testing';
import { stageOf } from '../stage.ts';
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
        const stage = stageOf(scenario);
        return { ...stage, provider: { ...stage.provider, ...spoil(stage.provider) } };
      },
      time: fakeTime(createFakeClock()),
    }),
  };
}

/** Passes every part of a stream through a change; undefined leaves it out. */
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

defectTests('model provider', modelsCases, [
  defect(
    'does not pass the signal on',
    [
      'a call aborted while the upstream is silent ends at once, here and there',
      'a call aborted amid its answer ends at once, here and there',
    ],
    (sound) => ({ generate: (request) => sound.generate(request, {}) }),
  ),
  defect(
    'goes on when its stream is left',
    [
      'a stream left amid the answer stops the upstream',
      'a stream left before the first read stops the upstream',
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
    'is a generator, whose end is skipped before it starts',
    ['a stream left before the first read stops the upstream'],
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
    'takes a broken connection for the end',
    ['an answer that breaks off fails as such, behind what had been said'],
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
    'decodes every piece by itself',
    ['text arrives letter by letter as it was said', 'parallel answers do not mix'],
    changing((part) => {
      if (part.type !== 'text') return part;
      const bytes = Buffer.from(part.text);
      return { ...part, text: bytes.subarray(0, 3).toString() + bytes.subarray(3).toString() };
    }),
  ),
  defect(
    'keeps usage to itself',
    ['usage is told, the last of it counts, and the end has one reason'],
    changing((part) => (part.type === 'usage' ? undefined : part)),
  ),
  defect(
    'calls every end a stop',
    ['an answer cut at the limit says so'],
    changing((part) => (part.type === 'finish' ? { type: 'finish', reason: 'stop' } : part)),
  ),
  defect(
    'says only that it failed',
    ['a call refused upstream as overloaded rejects as that, before any stream'],
    (sound) => ({
      generate: (request, options) =>
        sound.generate(request, options).catch((error: unknown) => {
          if (options.signal?.aborted === true) throw error;
          throw new Error('failed');
        }),
    }),
  ),
]);
