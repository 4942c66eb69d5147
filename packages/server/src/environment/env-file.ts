import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { CliError } from '../cli-error.ts';
import type { Environment } from './configuration.ts';

/**
 * The environment, extended with the folder's `.env` file. Existing variables win, even blank ones.
 * @throws CliError when the file exists but cannot be read.
 */
export function withEnvFile(environment: Environment, folder: string): Environment {
  let text: string;
  try {
    text = readFileSync(join(folder, '.env'), 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') return environment;
    throw new CliError([`.env: cannot be read (${String(code)})`]);
  }
  return { ...parseEnv(text), ...environment };
}
