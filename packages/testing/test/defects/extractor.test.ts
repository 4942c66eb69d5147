import { createOwnerTurns } from '@questline/core/internal';
import { ExtractionError, type TextExtractor } from '@questline/core/ports';
import { createFakeClock, type ExtractorSubject, extractorCases, fakeTime } from '@questline/testing';
import { type Defect, defectTests, gap } from './red.ts';

const TYPE = { mimeType: 'text/x-test', name: 'a' };
const sample = (text: string) => ({ type: TYPE, bytes: Buffer.from(text), text });

/** The beginning of a text determines its result. */
function createSound(): TextExtractor {
  const turns = createOwnerTurns({ slots: 2 });
  return {
    reads: ({ mimeType }) => mimeType === TYPE.mimeType,
    async extract(bytes, _type, { owner = '', signal } = {}) {
      const release = await turns.take(owner, { signal });
      try {
        const text = Buffer.from(bytes).toString();
        for (let turn = 0; turn < (text === 'heavy' ? 20 : 1); turn += 1) await gap();
        signal?.throwIfAborted();
        if (text === 'heavy') throw new ExtractionError('limit', 'it is heavy');
        if (text === 'broken') throw new Error('broken');
        return { text };
      } finally {
        release();
      }
    },
  };
}

function defect(
  name: string,
  red: readonly string[],
  spoil: (sound: TextExtractor) => Partial<TextExtractor>,
): Defect<ExtractorSubject> {
  return {
    name,
    red,
    create: async () => {
      const sound = createSound();
      return {
        extractor: { ...sound, ...spoil(sound) },
        samples: [sample('one'), sample('two')],
        broken: sample('broken'),
        heavy: sample('heavy'),
        time: fakeTime(createFakeClock()),
      };
    },
  };
}

defectTests('text extractor', extractorCases, [
  defect('reads every type', ['reads the types it names, and no other'], () => ({ reads: () => true })),
  defect(
    'changes the bytes passed in',
    ['reads the same text from the same bytes and leaves the bytes unchanged'],
    (sound) => ({
      async extract(bytes, type, options) {
        const read = await sound.extract(bytes, type, options);
        bytes.fill(0);
        return read;
      },
    }),
  ),
  defect(
    'treats a broken file as empty',
    ['rejects a broken file without a limit error and reads the next one'],
    (sound) => ({
      extract: (bytes, type, options) =>
        sound.extract(bytes, type, options).catch((error: Error) => {
          if (error.message === 'broken') return { text: '' };
          throw error;
        }),
    }),
  ),
  defect(
    'does not report its limit',
    ['rejects an oversized document with a limit error and reads the next one'],
    (sound) => ({
      extract: (bytes, type, options) =>
        sound.extract(bytes, type, options).catch((error: Error) => {
          throw new Error(error.message);
        }),
    }),
  ),
  defect(
    'serves all owners in one line',
    ['reads a document of one owner while those of another take too much'],
    (sound) => ({ extract: (bytes, type, options) => sound.extract(bytes, type, { ...options, owner: '' }) }),
  ),
  defect(
    'mixes up two calls',
    ['returns its own text to each parallel call, of one owner and of several'],
    (sound) => {
      let last: Uint8Array = Buffer.from('');
      return {
        async extract(bytes, type, options) {
          last = bytes;
          await gap();
          return sound.extract(last, type, options);
        },
      };
    },
  ),
  defect(
    'ignores its signal',
    ['stops a call that is aborted before it and reads the next one'],
    (sound) => ({
      extract: (bytes, type, options) =>
        sound.extract(bytes, type, { ...options, signal: undefined } as object),
    }),
  ),
  defect('stays closed for ever', ['works after close as before, and closes twice'], (sound) => {
    let isClosed = false;
    return {
      async extract(...call) {
        if (isClosed) throw new ExtractionError('unavailable', 'closed');
        return sound.extract(...call);
      },
      async close() {
        isClosed = true;
      },
    };
  }),
]);
