import type { Moderator } from '../../../ports/moderator.ts';
import { createArchiveInspection } from './archives.ts';
import { findHugeImage } from './images.ts';
import { findTestVirus } from './signatures.ts';
import { findActiveSvg } from './svg.ts';
import { findWrongType } from './types.ts';
import { CLEAN, type Inspection } from './verdicts.ts';

const INSPECTIONS: readonly Inspection[] = [findWrongType, findHugeImage, findActiveSvg, findTestVirus];

/**
 * Checks the bytes in this process, without external services: whether they have the declared type, and whether they
 * are a program, the EICAR test file, a decompression bomb, or an SVG with active content.
 */
export function createLocalModerator(): Moderator {
  const inspections = [...INSPECTIONS, createArchiveInspection()];
  return {
    async check(file, options = {}) {
      for (const inspect of inspections) {
        options.signal?.throwIfAborted();
        const reason = await inspect(file, options);
        if (reason !== undefined) return { isClean: false, reason };
      }
      return CLEAN;
    },
  };
}
