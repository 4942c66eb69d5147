import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const ROOT = join(import.meta.dirname, '../../..');

/** The errors of the compiler for a module `program.ts` of the workspace. @param config extends `tsconfig.json` options. */
export async function compile(text: string, config: object): Promise<string> {
  mkdirSync(join(import.meta.dirname, '.types'), { recursive: true });
  // Inside the workspace, so that packages resolve.
  const place = mkdtempSync(join(import.meta.dirname, '.types/run-'));
  try {
    writeFileSync(join(place, 'program.ts'), text);
    const files = { include: ['program.ts'], exclude: [] };
    writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ ...config, ...files }));
    const compiler = join(ROOT, 'node_modules/typescript7/bin/tsc');
    const args = [compiler, '-p', place, '--pretty', 'false'];
    const { stdout } = await run(process.execPath, args, { maxBuffer: 1e8 }).catch(
      (failure: { stdout: string }) => failure,
    );
    return stdout;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
