import { ProviderError } from '@questline/core';
import { text } from '../content/fields.ts';

/** The file's name out of its address. */
export function fileOf(uri: unknown): string {
  const name = /\/?files\/([\w-]+)(?::download)?(?:\?|$)/.exec(text(uri) ?? '')?.[1];
  if (name === undefined) throw new ProviderError('failed', 'names a result that is no file');
  return name;
}
