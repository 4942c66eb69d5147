import type { Moderator } from '../../ports/moderator.ts';
import { findArchiveBomb } from './archives.ts';
import { findHugeImage } from './images.ts';
import { findTestVirus } from './signatures.ts';
import { findActiveSvg } from './svg.ts';
import { findWrongType } from './types.ts';
import { CLEAN, type Inspection } from './verdicts.ts';

const INSPECTIONS: readonly Inspection[] = [
  findWrongType,
  findHugeImage,
  findActiveSvg,
  findTestVirus,
  findArchiveBomb,
];

/**
 * Looks at the bytes, in this process, without asking anybody: whether they are of the declared type, and whether they
 * are a program, the EICAR test file, an archive or image that fills a machine when it is opened, or an SVG that acts.
 */
export function createLocalModerator(): Moderator {
  return {
    async check(file, options = {}) {
      for (const inspect of INSPECTIONS) {
        options.signal?.throwIfAborted();
        const reason = await inspect(file, options);
        if (reason !== undefined) return { isClean: false, reason };
      }
      return CLEAN;
    },
  };
}
