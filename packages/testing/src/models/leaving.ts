import { setImmediate as turn } from 'node:timers/promises';
import type { ModelPart } from '@questline/core';
import { expect } from 'vitest';
import { type ModelsCase, partsOf, rejectionOf, requestTo, soon } from './subject.ts';

const parts: readonly ModelPart[] = [{ type: 'text', text: 'hello' }];

export const leavingCases: readonly ModelsCase[] = [
  {
    name: 'a call aborted before it begins rejects, and leaves the upstream alone',
    section: 'abort',
    async run({ stage }) {
      const one = await stage({ kind: 'stall', parts });
      const signal = AbortSignal.abort();
      await rejectionOf(soon('the refusal', one.provider.generate(requestTo(one), { signal })));
      for (let turns = 0; turns < 20; turns += 1) await turn();
      if (one.calls() > 0) await soon('the upstream noticing', one.left());
    },
  },
  {
    name: 'a call aborted while the upstream is silent ends at once, here and there',
    section: 'abort',
    async run({ stage }) {
      const one = await stage({ kind: 'silent' });
      const controller = new AbortController();
      const generating = one.provider.generate(requestTo(one), { signal: controller.signal });
      generating.catch(() => undefined);
      await soon('the call', one.called());
      controller.abort();
      await rejectionOf(soon('the end of the call', generating));
      await soon('the upstream noticing', one.left());
    },
  },
  {
    name: 'a call aborted amid its answer ends at once, here and there',
    section: 'abort',
    async run({ stage }) {
      const one = await stage({ kind: 'stall', parts });
      const controller = new AbortController();
      const stream = await one.provider.generate(requestTo(one), { signal: controller.signal });
      const reading = partsOf(stream);
      await soon('the text', untilText(reading));
      const rest = (async () => {
        // What one read brought with the text may still come.
        for await (const part of reading) expect(part.type).not.toBe('finish');
      })();
      rest.catch(() => undefined);
      controller.abort();
      await rejectionOf(soon('the end of the stream', rest));
      await soon('the upstream noticing', one.left());
    },
  },
  {
    name: 'a stream left amid the answer stops the upstream',
    section: 'abort',
    async run({ stage }) {
      const one = await stage({ kind: 'stall', parts });
      const stream = await one.provider.generate(requestTo(one), {});
      const reading = partsOf(stream);
      await soon('the text', untilText(reading));
      await reading.return(undefined);
      await soon('the upstream noticing', one.left());
    },
  },
  {
    name: 'a stream left before the first read stops the upstream',
    section: 'abort',
    async run({ stage }) {
      const one = await stage({ kind: 'stall', parts });
      const stream = await one.provider.generate(requestTo(one), {});
      await soon('the return', Promise.resolve(stream[Symbol.asyncIterator]().return?.()));
      await soon('the upstream noticing', one.left());
    },
  },
];

/** Reads on until the model has said what it says; other parts may come before. */
async function untilText(reading: AsyncGenerator<ModelPart>): Promise<void> {
  for (;;) {
    const { done, value } = await reading.next();
    if (done === true) throw new Error('the stream ended before its text');
    if (value.type !== 'text') continue;
    expect(value).toEqual(parts[0]);
    return;
  }
}
