import type { Operation } from '@questline/core';
import { MEDIA } from './setups/media.ts';
import { MODELS } from './setups/models.ts';
import { OPERATIONS } from './walk.ts';

const isPublic = ({ path }: Operation): boolean => path.startsWith('/api/v1/');
const isRead = ({ method }: Operation): boolean => method === 'GET';
const callsModels = ({ id }: Operation): boolean => id in MODELS || id in MEDIA;

/** Every operation is in exactly one group; each group is one test file. */
export const GROUPS = {
  models: OPERATIONS.filter(callsModels),
  publicReads: OPERATIONS.filter((one) => !callsModels(one) && isPublic(one) && isRead(one)),
  publicWrites: OPERATIONS.filter((one) => !callsModels(one) && isPublic(one) && !isRead(one)),
  applicationReads: OPERATIONS.filter((one) => !callsModels(one) && !isPublic(one) && isRead(one)),
  applicationWrites: OPERATIONS.filter((one) => !callsModels(one) && !isPublic(one) && !isRead(one)),
};
