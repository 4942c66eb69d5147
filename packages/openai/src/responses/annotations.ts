import type { AnswerSource } from '@questline/core/ports';

interface UrlCitation {
  readonly type: 'url_citation';
  readonly url: string;
  readonly title: string;
  readonly start_index: number;
  readonly end_index: number;
}

interface FileCitation {
  readonly type: 'file_citation';
  readonly file_id: string;
  readonly filename: string;
  /** The position in the text. */
  readonly index: number;
}

export type Annotation = UrlCitation | FileCitation;

const MAX_ANNOTATIONS = 200;
/** A link or an address, as `[title](address)` or alone; or a name in square brackets. */
const CITATION =
  /\[([^[\]]*)\](?:\((https?:\/\/[^\s()]+(?:\([^\s()]*\)[^\s()]*)*)\))?|https?:\/\/[^\s<>"'`[\]]+/gi;
/** What ends a sentence, and no address. */
const TRAILING = /[).,;:!?*_]+$/;

/** Finds the places of a text that cite what the tools of the server have found. */
export function findAnnotations(text: string, sources: readonly AnswerSource[]): readonly Annotation[] {
  if (sources.length === 0) return [];
  const pages = new Map<string, string>();
  const files = new Map<string, string>();
  for (const source of sources) {
    if (source.type === 'page') pages.set(source.url, source.title);
    else files.set(source.name, source.fileId);
  }
  const found: Annotation[] = [];
  for (const { 0: whole, 1: label, 2: address, index } of text.matchAll(CITATION)) {
    if (found.length === MAX_ANNOTATIONS) break;
    const file = label === undefined || address !== undefined ? undefined : files.get(label);
    if (label !== undefined && file !== undefined) {
      found.push({ type: 'file_citation', file_id: file, filename: label, index });
      continue;
    }
    const isBare = label === undefined;
    const url = [address ?? whole, whole.replace(TRAILING, '')].find((one) => pages.has(one));
    if (url === undefined) continue;
    const end = index + (isBare ? url.length : whole.length);
    const title = pages.get(url) ?? url;
    found.push({ type: 'url_citation', url, title, start_index: index, end_index: end });
  }
  return found;
}
