import type { CollectionShape } from '@questline/core/ports';
import { SHARD_PLACEMENTS } from './directory.ts';
import { SHARD_EXPORTS } from './exports.ts';
import { SHARD_MOVES } from './moves.ts';

/** The collections of a home database, besides `COLLECTIONS`. Pass them to `migrate`. */
export const SHARD_COLLECTIONS: readonly CollectionShape[] = [SHARD_PLACEMENTS, SHARD_EXPORTS, SHARD_MOVES];
