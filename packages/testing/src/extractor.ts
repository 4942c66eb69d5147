import assert from 'node:assert/strict';
import { type DocumentType, isExtractionError, type TextExtractor } from '@questline/core/ports';
import { aborting } from './parallel.ts';
import { type Case, registerSuite, type Subject, type SuiteOptions } from './suite.ts';

/** A file and its text. */
export interface SampleDocument {
  readonly type: DocumentType;
  readonly bytes: Uint8Array;
  readonly text: string;
}

export interface ExtractorSubject extends Subject {
  readonly extractor: TextExtractor;
  /** Small documents whose texts differ, at least two. */
  readonly samples: readonly SampleDocument[];
  /** A file with a supported type and other content. Absent: every file of the types can be read. */
  readonly broken?: Omit<SampleDocument, 'text'>;
  /** A file above a limit. Absent: the extractor has no limits of its own. */
  readonly heavy?: Omit<SampleDocument, 'text'>;
}

export type ExtractorCase = Case<ExtractorSubject>;

const NO_BROKEN = 'no file of its types is broken';
const NO_HEAVY = 'it has no limits of its own';

async function readText(
  extractor: TextExtractor,
  { bytes, type }: Omit<SampleDocument, 'text'>,
  owner?: string,
) {
  const options = owner === undefined ? {} : { owner };
  return (await extractor.extract(bytes, type, options)).text;
}

async function assertReads({ extractor, samples }: ExtractorSubject): Promise<void> {
  for (const sample of samples) assert.equal(await readText(extractor, sample), sample.text);
}

const behaviourCases: readonly ExtractorCase[] = [
  {
    name: 'reads the types it names, and no other',
    section: 'behaviour',
    async run({ extractor, samples }) {
      for (const { type } of samples) assert.equal(extractor.reads(type), true);
      assert.equal(
        extractor.reads({ mimeType: 'application/x-questline-unknown', name: 'a.unknown' }),
        false,
      );
    },
  },
  {
    name: 'reads the same text from the same bytes and leaves the bytes unchanged',
    section: 'behaviour',
    async run(subject) {
      const before = subject.samples.map(({ bytes }) => Buffer.from(bytes));
      await assertReads(subject);
      await assertReads(subject);
      const after = subject.samples.map(({ bytes }) => Buffer.from(bytes));
      assert.deepEqual(after, before);
    },
  },
  {
    name: 'rejects a broken file without a limit error and reads the next one',
    section: 'behaviour',
    excuse: ({ broken }) => (broken === undefined ? NO_BROKEN : undefined),
    async run(subject) {
      const { extractor, broken } = subject;
      if (broken === undefined) return;
      const outcome = await extractor.extract(broken.bytes, broken.type).catch((error: unknown) => error);
      assert.ok(outcome instanceof Error, 'a broken file was read');
      assert.ok(!isExtractionError(outcome) || outcome.kind === 'unreadable');
      await assertReads(subject);
    },
  },
  {
    name: 'rejects an oversized document with a limit error and reads the next one',
    section: 'behaviour',
    excuse: ({ heavy }) => (heavy === undefined ? NO_HEAVY : undefined),
    async run(subject) {
      const { extractor, heavy } = subject;
      if (heavy === undefined) return;
      const outcome = await extractor.extract(heavy.bytes, heavy.type).catch((error: unknown) => error);
      assert.ok(
        isExtractionError(outcome) && outcome.kind === 'limit',
        'expected an error of the kind limit',
      );
      assert.notEqual(outcome.message, '');
      await assertReads(subject);
    },
  },
  {
    name: 'works after close as before, and closes twice',
    section: 'behaviour',
    async run(subject) {
      await assertReads(subject);
      await subject.extractor.close?.();
      await subject.extractor.close?.();
      await assertReads(subject);
    },
  },
];

const raceCases: readonly ExtractorCase[] = [
  {
    name: 'returns its own text to each parallel call, of one owner and of several',
    section: 'race',
    async run({ extractor, samples }) {
      const calls = Array.from({ length: 12 }, (_, at) => samples[at % samples.length] as SampleDocument);
      const texts = await Promise.all(
        calls.map((sample, at) => readText(extractor, sample, at % 3 === 0 ? undefined : `owner ${at % 3}`)),
      );
      assert.deepEqual(
        texts,
        calls.map(({ text }) => text),
      );
    },
  },
  {
    name: 'reads a document of one owner while those of another take too much',
    section: 'race',
    excuse: ({ heavy }) => (heavy === undefined ? NO_HEAVY : undefined),
    async run({ extractor, samples, heavy }) {
      const [sample] = samples;
      if (heavy === undefined || sample === undefined) return;
      let ended = 0;
      const all = Array.from({ length: 4 }, async () => {
        await readText(extractor, heavy, 'mallory').catch(() => undefined);
        ended += 1;
      });
      assert.equal(await readText(extractor, sample, 'bob'), sample.text);
      assert.ok(ended < all.length, 'it waited for all documents of the other owner');
      await Promise.all(all);
    },
  },
];

const abortCases: readonly ExtractorCase[] = (['before', 'during'] as const).map((when) => ({
  name: `stops a call that is aborted ${when} it and reads the next one`,
  section: 'abort' as const,
  async run(subject: ExtractorSubject) {
    const { extractor, samples, heavy } = subject;
    for (const { bytes, type } of [...samples, ...(heavy === undefined ? [] : [heavy])]) {
      const { isDone } = await aborting(when, (signal) => extractor.extract(bytes, type, { signal }));
      if (when === 'before') assert.equal(isDone, false, 'it read for a signal that was aborted already');
    }
    await assertReads(subject);
  },
}));

/** The cases of every text extractor. */
export const extractorCases: readonly ExtractorCase[] = [...behaviourCases, ...raceCases, ...abortCases];

/** Registers the conformance suite of `TextExtractor` as tests. */
export function extractorSuite(options: SuiteOptions<ExtractorSubject>): void {
  registerSuite('text extractor', extractorCases, options);
}
