import type { Setup } from './outcome.ts';
import { LISTS } from './setups/lists.ts';
import { MEDIA } from './setups/media.ts';
import { MODELS } from './setups/models.ts';
import { REST } from './setups/rest.ts';

/** Scenes in addition to the successful wire cases, by operation. */
export const SETUPS: Readonly<Record<string, readonly Setup[]>> = { ...LISTS, ...MEDIA, ...MODELS, ...REST };
