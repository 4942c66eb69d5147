import { glob, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decode, encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec';

/**
 * Reduces the source maps of built files to lines: the positions where another line of a source begins. Stack
 * traces name the same files and lines, and the maps have a third of their size.
 */
export async function reduceToLines(dist: string): Promise<void> {
  for await (const file of glob('**/*.map', { cwd: dist })) {
    const path = join(dist, file);
    const map = JSON.parse(await readFile(path, 'utf8'));
    const lines = decode(map.mappings).map(keepLines);
    await writeFile(path, JSON.stringify({ ...map, names: [], mappings: encode(lines) }));
  }
}

function keepLines(segments: readonly SourceMapSegment[]): SourceMapSegment[] {
  const kept: SourceMapSegment[] = [];
  for (const [column, source, line] of segments) {
    if (source === undefined || line === undefined) continue;
    const last = kept.at(-1);
    if (last?.[1] !== source || last[2] !== line) kept.push([column, source, line, 0]);
  }
  return kept;
}
