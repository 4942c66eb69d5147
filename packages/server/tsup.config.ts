import { copyFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { library } from '../../tsup.shared.ts';

const BUNDLE = 'redoc.standalone.js';

/** The reference page's script travels with the server, with its license: the package it comes from is eight times as large. */
async function copyReferencePage(): Promise<void> {
  const { resolve } = createRequire(import.meta.url);
  for (const file of [BUNDLE, `${BUNDLE}.LICENSE.txt`]) {
    await copyFile(resolve(`redoc/bundles/${file}`), `dist/${file}`);
  }
}

export default library(['src/index.ts', 'src/main.ts'], { formats: ['esm'], onSuccess: copyReferencePage });
