import type { ModelOverride } from '@questline/core';
import type { Modality } from '@questline/core/ports';
import * as z from 'zod';

/** Which models of a public list are read. */
export interface ReadListOptions {
  /** Ids of providers here, by their name in the list. Default: OpenAI, Anthropic, Gemini and xAI under their usual ids. */
  readonly providers?: Readonly<Record<string, string>>;
}

/** The result of reading a public list. */
export interface ReadList {
  /** By model id, as the `models` setting of `createServices` takes it. */
  readonly models: Readonly<Record<string, ModelOverride>>;
  /** Entries of these providers that cannot be read, each with the reason. */
  readonly skipped: readonly { readonly id: string; readonly reason: string }[];
}

/** Maximum characters of a list. The largest one has 2 million. */
const MAX_LENGTH = 64 * 2 ** 20;
/** Maximum USD per million tokens: more means wrong units. */
const MAX_PRICE = 100_000;

export const price = z.number().min(0).max(MAX_PRICE);
export const tokens = z.number().int().min(1).max(1_000_000_000);
export const modelId = z.string().regex(/^[A-Za-z0-9][\w.:@/-]{0,199}$/);
export const isoDate = z.iso.date();

/**
 * @param json text, or what it was parsed to.
 * @throws Error when it is no JSON object, or too large.
 */
export function parseList(json: unknown, format: string): Record<string, unknown> {
  let parsed = json;
  if (typeof json === 'string') {
    if (json.length > MAX_LENGTH) throw new Error(`${format}: the list has more than 64 MiB`);
    try {
      parsed = JSON.parse(json);
    } catch {
      throw new Error(`${format}: the list is no JSON`);
    }
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new Error(`${format}: expected a JSON object`);
  }
  return parsed as Record<string, unknown>;
}

/** Describes the first issue of an entry. */
export function shortFault({ issues: [first] }: z.ZodError): string {
  return first === undefined ? 'cannot be read' : `${first.path.join('.')}: ${first.message}`.slice(0, 200);
}

/** A name without control characters. */
export function cleanName(name: string): string {
  return name.replaceAll(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, '').slice(0, 200);
}

const MODALITIES: Readonly<Record<string, Modality>> = {
  text: 'text',
  image: 'image',
  pdf: 'document',
  audio: 'audio',
  video: 'video',
};

/** The known ones. */
export function toModalities(names: readonly string[]): readonly Modality[] {
  return names.flatMap((name) => (Object.hasOwn(MODALITIES, name) ? (MODALITIES[name] ?? []) : []));
}

/** A price without floating-point noise. */
export function roundPrice(usd: number): number {
  return Number(usd.toPrecision(12));
}
