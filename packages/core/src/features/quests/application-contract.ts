import { defineOperation } from '../../contract/operation.ts';
import { getQuest } from './contract.ts';

/** `GET /api/v1/quests/{id}` at its older path. */
export const getApplicationQuest = defineOperation({
  ...getQuest,
  id: 'getApplicationQuest',
  path: '/api/quests/{id}',
  side: 'application',
  description: 'The same as `GET /api/v1/quests/{id}`.',
});
