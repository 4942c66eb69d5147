import { createHash } from 'node:crypto';
import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';
import type { ModelContent, ThinkingBlock } from '@questline/core/ports';

/*
 * Vendors attach metadata (mostly signatures) to reasoning, and some to text and tool calls too, and require it back in
 * the same place. A thinking block carries its own metadata. Text and calls have no field for it: one more block
 * describes the layout of the whole answer.
 */

export type Metadata = SharedV4ProviderMetadata;

export interface ReasoningBlock extends ThinkingBlock {
  readonly type: 'thinking';
  readonly thinking: string;
  /** The vendor of the model that created it; other vendors never receive it. */
  readonly vendor: string;
  readonly providerMetadata?: Metadata;
}

export interface LayoutBlock extends ThinkingBlock {
  readonly type: 'redacted_thinking';
  readonly vendor: string;
  /** Hash of the whole text: if the text has changed, the layout is ignored. */
  readonly digest: string;
  readonly layout: readonly LayoutItem[];
}

export type LayoutItem =
  | { readonly type: 'thinking' }
  /** `length` in UTF-16 units. */
  | { readonly type: 'text'; readonly length: number; readonly providerMetadata?: Metadata }
  | { readonly type: 'tool_use'; readonly id: string; readonly providerMetadata?: Metadata };

type Answer = Extract<ModelContent, { type: 'text' | 'tool_use' }> | ReasoningBlock;

/** A piece of an answer, with the vendor's metadata. */
export interface Restored {
  readonly content: Answer;
  readonly providerMetadata?: Metadata | undefined;
}

export function getDigest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

/**
 * Rebuilds an assistant message as the vendor's model returned it. Leaves out blocks of other vendors, and all blocks
 * if the message has changed since: a vendor would reject it, or would prefer its own copy.
 */
export function restore(content: readonly ModelContent[], vendor: string): readonly Restored[] {
  const blocks = content.flatMap((piece) => (piece.type === 'thinking' ? [piece.block] : []));
  const layout = blocks.find((block): block is LayoutBlock => isLayout(block, vendor));
  if (layout !== undefined) return laidOut(content, layout, vendor) ?? plain(content, undefined);
  return plain(content, vendor);
}

function plain(content: readonly ModelContent[], vendor: string | undefined): Restored[] {
  return content.flatMap((piece): Restored[] => {
    if (piece.type === 'text') return piece.text === '' ? [] : [{ content: piece }];
    if (piece.type === 'tool_use') return [{ content: piece }];
    if (piece.type !== 'thinking' || vendor === undefined || !isReasoning(piece.block, vendor)) return [];
    return [{ content: piece.block, providerMetadata: piece.block.providerMetadata }];
  });
}

function laidOut(
  content: readonly ModelContent[],
  block: LayoutBlock,
  vendor: string,
): Restored[] | undefined {
  const text = content.map((piece) => (piece.type === 'text' ? piece.text : '')).join('');
  if (getDigest(text) !== block.digest) return undefined;
  const calls = new Map(content.flatMap((piece) => (piece.type === 'tool_use' ? [[piece.id, piece]] : [])));
  const thoughts = content.flatMap((piece) =>
    piece.type === 'thinking' && isReasoning(piece.block, vendor) ? [piece.block] : [],
  );
  const restored: Restored[] = [];
  let place = 0;
  for (const item of block.layout) {
    const piece: Answer | undefined =
      item.type === 'thinking'
        ? thoughts.shift()
        : item.type === 'text'
          ? { type: 'text', text: text.slice(place, place + item.length) }
          : calls.get(item.id);
    if (piece === undefined) return undefined;
    if (item.type === 'text') place += item.length;
    if (item.type === 'tool_use') calls.delete(item.id);
    const metadata =
      item.type === 'thinking' ? (piece as ReasoningBlock).providerMetadata : item.providerMetadata;
    restored.push({ content: piece, providerMetadata: metadata });
  }
  return thoughts.length === 0 && calls.size === 0 && place === text.length ? restored : undefined;
}

function isReasoning(block: ThinkingBlock, vendor: string): block is ReasoningBlock {
  return block.type === 'thinking' && block.vendor === vendor && typeof block.thinking === 'string';
}

/** Blocks come from callers and may be malformed. */
function isLayout(block: ThinkingBlock, vendor: string): boolean {
  return (
    block.type === 'redacted_thinking' &&
    block.vendor === vendor &&
    Array.isArray(block.layout) &&
    block.layout.every(
      (item: Partial<Record<string, unknown>> | null) =>
        item?.type === 'thinking' ||
        (item?.type === 'text' && typeof item.length === 'number') ||
        (item?.type === 'tool_use' && typeof item.id === 'string'),
    )
  );
}
