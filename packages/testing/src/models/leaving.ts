import { setImmediate as turn } from 'node:timers/promises';
import type { ModelPart } from '@questline/core/ports';
import { expect } from 'vitest';
import { catchRejection, type ModelsCase, readParts, requestTo, soon } from './subject.ts';

const parts: readonly ModelPart[] = [{ type: 'text', text: 'hello' }];

export const leavingCases: readonly ModelsCase[] = [
  {
    name: 'rejects without an upstream call when aborted before the start',
    section: 'abort',
    async run({ stage }) {
      const one = await stage({ kind: 'stall', parts });
      const signal = AbortSignal.abort();
      await catchRejection(soon('the refusal', one.provider.generate(requestTo(one), { signal })));
      for (let turns = 0; turns < 20; turns += 1) await turn();
      if (one.calls() > 0) await soon('the upstream noticing', one.left());
    },
  },
  {
    name: 'ends at once on both sides when aborted during silence',
    section: 'abort',
    async run({ stage }) {
      const one = await stage({ kind: 'silent' });
      const controller = new AbortController();
      const generating = one.provider.generate(requestTo(one), { signal: controller.signal });
      generating.catch(() => undefined);
      await soon('the call', one.called());
      controller.abort();
      await catchRejection(soon('the end of the call', generating));
      await soon('the upstream noticing', one.left());
    },
  },
  {
    name: 'ends at once on both sides when aborted during the answer',
    section: 'abort',
    async run({ stage }) {
      const one = await stage({ kind: 'stall', parts });
      const controller = new AbortController();
      const stream = await one.provider.generate(requestTo(one), { signal: controller.signal });
      const reading = readParts(stream);
      await soon('the text', untilText(reading));
      const rest = (async () => {
        // Parts of the same read may still arrive.
        for await (const part of reading) expect(part.type).not.toBe('finish');
      })();
      rest.catch(() => undefined);
      controller.abort();
      await catchRejection(soon('the end of the stream', rest));
      await soon('the upstream noticing', one.left());
    },
  },
  {
    name: 'stops the upstream when the stream is left during the answer',
    section: 'abort',
    async run({ stage }) {
      const one = await stage({ kind: 'stall', parts });
      const stream = await one.provider.generate(requestTo(one), {});
      const reading = readParts(stream);
      await soon('the text', untilText(reading));
      await reading.return(undefined);
      await soon('the upstream noticing', one.left());
    },
  },
  {
    name: 'stops the upstream when the stream is left before the first read',
    section: 'abort',
    async run({ stage }) {
      const one = await stage({ kind: 'stall', parts });
      const stream = await one.provider.generate(requestTo(one), {});
      await soon('the return', Promise.resolve(stream[Symbol.asyncIterator]().return?.()));
      await soon('the upstream noticing', one.left());
    },
  },
];

/** Reads until the text arrives; other parts may precede it. */
async function untilText(reading: AsyncGenerator<ModelPart>): Promise<void> {
  for (;;) {
    const { done, value } = await reading.next();
    if (done === true) throw new Error('the stream ended before its text');
    if (value.type !== 'text') continue;
    expect(value).toEqual(parts[0]);
    return;
  }
}
