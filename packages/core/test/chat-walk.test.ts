import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const MAX_FOLDERS = 15;
const MAX_RETURNS = 10;

const ROOT = join(import.meta.dirname, '../../..');

interface Walk {
  readonly folders: readonly string[];
  readonly files: readonly string[];
  readonly returns: number;
}

async function walk(): Promise<Walk> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=@questline/source', 'scripts/chat-walk.ts', '--json'],
    { cwd: ROOT },
  );
  return JSON.parse(stdout) as Walk;
}

describe('worker code of a chat turn', () => {
  it('visits few folders of core, and rarely returns to a folder that it has left', async () => {
    const { folders, files, returns } = await walk();
    expect(files).toContain('runs/handler.ts');
    expect(files).toContain('features/chat/job.ts');
    expect(files).toContain('models/answering.ts');
    expect(folders.length, folders.join(', ')).toBeLessThanOrEqual(MAX_FOLDERS);
    expect(returns, files.join('\n')).toBeLessThanOrEqual(MAX_RETURNS);
  });
});
