import { createHash } from 'node:crypto';
import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';
import type { ModelContent, ThinkingBlock } from '@questline/core';

/*
 * Vendors attach data of their own to reasoning, and some to texts and tool calls too (signatures, mostly), and want it
 * back where it was. Reasoning carries it in its own block. For texts and calls, which travel without room for it, one
 * more block tells how the whole answer was laid out.
 */

export type Metadata = SharedV4ProviderMetadata;

export interface ReasoningBlock extends ThinkingBlock {
  readonly type: 'thinking';
  readonly thinking: string;
  /** Which vendor's model made it; no other one is given it. */
  readonly vendor: string;
  readonly providerMetadata?: Metadata;
}

export interface LayoutBlock extends ThinkingBlock {
  readonly type: 'redacted_thinking';
  readonly vendor: string;
  /** Of the whole text: when the text was changed since, the layout means nothing any more. */
  readonly digest: string;
  readonly layout: readonly LayoutItem[];
}

export type LayoutItem =
  | { readonly type: 'thinking' }
  /** `length` in UTF-16 units. */
  | { readonly type: 'text'; readonly length: number; readonly providerMetadata?: Metadata }
  | { readonly type: 'tool_use'; readonly id: string; readonly providerMetadata?: Metadata };

type Answer = Extract<ModelContent, { type: 'text' | 'tool_use' }> | ReasoningBlock;

/** A piece of an answer, and what the vendor wants to see with it. */
export interface Restored {
  readonly content: Answer;
  readonly providerMetadata?: Metadata | undefined;
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

/**
 * An assistant's message as the vendor's model once gave it. Blocks of other vendors are left out; so are all blocks
 * when the message is not the one they were made with, because a vendor would refuse it or prefer its own memory.
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
  if (digestOf(text) !== block.digest) return undefined;
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

/** Blocks come back through callers: nothing about them can be relied on. */
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
