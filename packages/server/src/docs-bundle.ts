import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

/** The script of the reference page: beside the built server, or in node_modules before a build. */
export async function loadDocsBundle(): Promise<Uint8Array> {
  const built = new URL('./redoc.standalone.js', import.meta.url);
  if (existsSync(built)) return readFile(built);
  return readFile(createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js'));
}
