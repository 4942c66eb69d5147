import type { LanguageModelV2Usage, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { Usage } from '@questline/core/ports';
import type { Metadata } from './blocks.ts';

/**
 * Converts token counts to classes that do not overlap.
 * @param vendor the model's `provider`, e.g. `anthropic.messages`.
 * @param metadata metadata of the answer: in version 2, Anthropic reports cache writes there.
 * @returns undefined when the provider reported no counts.
 */
export function toUsage(
  usage: LanguageModelV2Usage | LanguageModelV4Usage | undefined,
  vendor: string,
  metadata?: Metadata,
): Usage | undefined {
  if (usage === undefined) return undefined;
  return isFlat(usage) ? flatUsage(usage, vendor, metadata) : nestedUsage(usage);
}

function isFlat(usage: LanguageModelV2Usage | LanguageModelV4Usage): usage is LanguageModelV2Usage {
  return typeof usage.inputTokens !== 'object';
}

/** Versions 3 and 4: a total and its parts. */
function nestedUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage | undefined {
  if (
    inputTokens.total === undefined &&
    inputTokens.noCache === undefined &&
    outputTokens.total === undefined
  ) {
    return undefined;
  }
  const cachedInput = inputTokens.cacheRead ?? 0;
  const cacheWrite = inputTokens.cacheWrite ?? 0;
  const reasoning = outputTokens.reasoning ?? 0;
  return compact({
    input: rest(inputTokens.total, cachedInput + cacheWrite, inputTokens.noCache),
    output: rest(outputTokens.total, reasoning, outputTokens.text),
    cachedInput,
    cacheWrite,
    reasoning,
  });
}

/** The rest of a total, but at least the count that was reported for the rest. */
function rest(total: number | undefined, parts: number, counted: number | undefined): number {
  return Math.max((total ?? 0) - parts, counted ?? 0, 0);
}

/**
 * Version 2: flat counts whose overlap depends on the vendor. Anthropic counts cached input apart (also behind Bedrock
 * and Vertex), other vendors within the input; the total shows whether reasoning is counted apart.
 */
function flatUsage(
  usage: LanguageModelV2Usage,
  vendor: string,
  metadata: Metadata | undefined,
): Usage | undefined {
  const { inputTokens: input, outputTokens: output, totalTokens: total } = usage;
  if (input === undefined && output === undefined) return undefined;
  const cachedInput = usage.cachedInputTokens ?? 0;
  const reasoning = usage.reasoningTokens ?? 0;
  const written = metadata?.anthropic?.cacheCreationInputTokens;
  const cachedApart = /anthropic|bedrock/.test(vendor) || cachedInput > (input ?? 0);
  const reasoningApart =
    reasoning > (output ?? 0) || (total !== undefined && total >= (input ?? 0) + (output ?? 0) + reasoning);
  return compact({
    input: cachedApart ? (input ?? 0) : (input ?? 0) - cachedInput,
    output: reasoningApart ? (output ?? 0) : (output ?? 0) - reasoning,
    cachedInput,
    cacheWrite: typeof written === 'number' ? written : 0,
    reasoning,
  });
}

/** Removes classes with no tokens. */
function compact(
  usage: Required<Pick<Usage, 'input' | 'output' | 'cachedInput' | 'cacheWrite' | 'reasoning'>>,
) {
  const { input, output, cachedInput, cacheWrite, reasoning } = usage;
  return {
    input,
    output,
    ...(cachedInput !== 0 && { cachedInput }),
    ...(cacheWrite !== 0 && { cacheWrite }),
    ...(reasoning !== 0 && { reasoning }),
  };
}
