import type { ModelPart, ModelProvider } from '@questline/core/ports';
import type { Script, Upstream, UpstreamRequest } from '@questline/testing/upstreams';
import { expect } from 'vitest';
import { answer, each, failure, hello } from './collect.ts';

interface Walk {
  readonly upstream: Upstream;
  readonly provider: ModelProvider;
  readonly script: Script;
  /** Length of the script's stream in bytes. */
  readonly length: number;
  readonly parts: readonly ModelPart[];
}

/** The model name contains the position of a request. */
const at = (position: number) => ({ ...hello, model: `walk-${position}` });

function getPosition(request: UpstreamRequest): number {
  return Number(/walk-(\d+)/.exec(request.path + JSON.stringify(request.body))?.[1]);
}

/** Splits the stream into two reads at every byte: the parts must be equal. */
export async function cutEverywhere({ upstream, provider, script, length, parts }: Walk): Promise<void> {
  upstream.use((request) => ({ ...script, cutAt: getPosition(request) }));
  await each(length - 1, async (number) => {
    expect(await answer(provider, at(number + 1))).toEqual(parts);
  });
}

/**
 * Ends the stream after every byte: a classified error or a complete answer; never a hang or a partial
 * success. @returns the number of positions with a complete answer.
 */
export async function truncateEverywhere(
  { upstream, provider, script, length, parts }: Walk,
  by: 'end' | 'disconnect',
): Promise<number> {
  upstream.use((request) => ({ ...script, truncate: { at: getPosition(request), by } }));
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
