import { ProviderError } from '@questline/core/ports';
import { text } from '../content/fields.ts';

/** The file name in its URL. */
export function makeFile(uri: unknown): string {
  const name = /\/?files\/([\w-]+)(?::download)?(?:\?|$)/.exec(text(uri) ?? '')?.[1];
  if (name === undefined) throw new ProviderError('failed', 'names a result that is no file');
  return name;
}
