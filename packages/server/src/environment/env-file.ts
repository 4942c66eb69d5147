import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { Mistake } from '../mistake.ts';
import type { Environment } from './reader.ts';

/**
 * The environment with what a `.env` file in the folder adds. What the environment has wins, blank values too.
 * @throws Mistake when there is such a file and it cannot be read.
 */
export function withEnvFile(environment: Environment, folder: string): Environment {
  let text: string;
  try {
    text = readFileSync(join(folder, '.env'), 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') return environment;
    throw new Mistake([`.env: cannot be read (${String(code)})`]);
  }
  return { ...parseEnv(text), ...environment };
}
