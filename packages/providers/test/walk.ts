import type { ModelPart, ModelProvider } from '@questline/core';
import type { Script, Upstream, UpstreamRequest } from '@questline/testing/upstreams';
import { expect } from 'vitest';
import { answer, each, failure, hello } from './collect.ts';

interface Walk {
  readonly upstream: Upstream;
  readonly provider: ModelProvider;
  readonly script: Script;
  /** How many bytes the script's stream has. */
  readonly length: number;
  readonly parts: readonly ModelPart[];
}

/** The position a request is about travels as the name of its model. */
const at = (position: number) => ({ ...hello, model: `walk-${position}` });

function positionOf(request: UpstreamRequest): number {
  return Number(/walk-(\d+)/.exec(request.path + JSON.stringify(request.body))?.[1]);
}

/** Cuts the stream into two reads at every byte: the parts must come out the same. */
export async function cutEverywhere({ upstream, provider, script, length, parts }: Walk): Promise<void> {
  upstream.use((request) => ({ ...script, cutAt: positionOf(request) }));
  await each(length - 1, async (number) => {
    expect(await answer(provider, at(number + 1))).toEqual(parts);
  });
}

/**
 * Ends the stream after every byte: an error with a class, or everything; never a hang, never half a success.
 * @returns after how many of the positions everything had come.
 */
export async function truncateEverywhere(
  { upstream, provider, script, length, parts }: Walk,
  by: 'end' | 'disconnect',
): Promise<number> {
  upstream.use((request) => ({ ...script, truncate: { at: positionOf(request), by } }));
  let whole = 0;
  await each(length, async (number) => {
    const call = answer(provider, at(number));
    const outcome = await call.catch(() => undefined);
    if (outcome === undefined) {
      expect((await failure(call)).kind).toBe('failed');
    } else {
      expect(outcome).toEqual(parts);
      whole += 1;
    }
  });
  return whole;
}
