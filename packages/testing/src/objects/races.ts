import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect } from 'vitest';
import { aborting, inParallel } from '../parallel.ts';
import { getRuns } from '../suite.ts';
import { about, type ObjectsCase, read, readContent, toBytes } from './subject.ts';

const KEY = 'files/contended';
const WHEN = ['before', 'during'] as const;

export const raceCases: readonly ObjectsCase[] = [
  {
    name: 'keeps one whole object of parallel puts and never shows readers a part',
    section: 'race',
    async run({ objects }) {
      const written = (at: number) => new Uint8Array(100_000 + at).fill(at);
      await objects.put(KEY, written(0), about);
      const seen = await inParallel(20, [objects], async (store, at) => {
        const reads: (Uint8Array | undefined)[] = [];
        for (let again = 0; again < 8; again += 1) {
          if (at % 2 === 0) await store.put(KEY, written(8 * at + again), about);
          else reads.push(await read(store, KEY));
          await turn();
        }
        return reads;
      });
      for (const bytes of [...seen.flat(), await read(objects, KEY)]) {
        const first = bytes?.[0] ?? -1;
        expect(bytes?.length).toBe(100_000 + first);
        expect(bytes?.every((byte) => byte === first)).toBe(true);
      }
      expect((await objects.head(KEY))?.size).toBe((await read(objects, KEY))?.length);
    },
  },
  {
    name: 'keeps parallel puts to many keys apart',
    section: 'race',
    async run({ objects }) {
      await inParallel(20, [objects], (store, at) => store.put(`files/${at}`, toBytes(5000, at), about));
      for (let at = 0; at < 20; at += 1)
        expect(await read(objects, `files/${at}`)).toEqual(toBytes(5000, at));
    },
  },
];

export const abortCases: readonly ObjectsCase[] = [
  ...WHEN.map(
    (when): ObjectsCase => ({
      name: `leaves the old object or the new one when a put is aborted ${when} the call`,
      section: 'abort',
      async run({ objects }) {
        await objects.put(KEY, toBytes(100), about);
        const attempt = await aborting(when, (signal) =>
          objects.put(KEY, toBytes(150_000, 3), about, { signal }),
        );
        const now = await read(objects, KEY);
        expect([100, 150_000]).toContain(now?.length);
        const whole = now?.length === 100 ? toBytes(100) : toBytes(150_000, 3);
        expect(Buffer.from(now ?? []).equals(whole)).toBe(true);
        if (attempt.isDone) expect(now?.length).toBe(150_000);
      },
    }),
  ),
  {
    name: 'keeps the old object and releases the body when a put is aborted during its body',
    section: 'abort',
    async run({ objects }) {
      await objects.put(KEY, toBytes(100), about);
      const controller = new AbortController();
      let isLetGo = false;
      const body = async function* () {
        try {
          yield toBytes(70_000);
          controller.abort();
          for (let more = 0; more < 100; more += 1) yield toBytes(70_000);
        } finally {
          isLetGo = true;
        }
      };
      const size = 101 * 70_000;
      const put = objects.put(KEY, body(), { ...about, size }, { signal: controller.signal });
      const isPut = await put.then(
        () => true,
        () => false,
      );
      expect(isLetGo).toBe(true);
      expect((await objects.head(KEY))?.size).toBe(isPut ? size : 100);
    },
  },
];

type Step = {
  readonly do: 'put' | 'read' | 'range' | 'remove';
  readonly key: number;
  readonly a: number;
  readonly b: number;
};

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom('put' as const, 'put' as const, 'read' as const, 'range' as const, 'remove' as const),
  key: fc.nat({ max: 2 }),
  a: fc.nat({ max: 3000 }),
  b: fc.nat({ max: 3000 }),
});

export const randomCases: readonly ObjectsCase[] = [
  {
    name: 'behaves like a map of bytes for any sequence of calls',
    section: 'random',
    async run({ objects }, random) {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
          run += 1;
          const model = new Map<string, Uint8Array>();
          for (const { do: what, key: number, a, b } of steps) {
            const key = `run/${run}/${number}`;
            const known = model.get(key);
            if (what === 'put') {
              model.set(key, toBytes(a, b));
              await objects.put(key, toBytes(a, b), about);
            } else if (what === 'remove') {
              model.delete(key);
              await objects.remove(key);
            } else if (what === 'read' || known === undefined || Math.min(a, b) >= known.length) {
              expect(isSame(await read(objects, key), known)).toBe(true);
              expect((await objects.head(key))?.size).toBe(known?.length);
            } else {
              const range = { start: Math.min(a, b), end: Math.max(a, b) };
              const part = await readContent(await objects.get(key, range));
              expect(isSame(part, known.slice(range.start, range.end + 1))).toBe(true);
            }
          }
        }),
        getRuns(random),
      );
    },
  },
];

/** Compares bytes without printing them on failure. */
function isSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : Buffer.from(a).equals(b);
}
