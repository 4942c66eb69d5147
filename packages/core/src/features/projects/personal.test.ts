import { expect, it } from 'vitest';
import type { DeletionCleanup } from '../../operations/deletion.ts';
import { SESSIONS } from '../sessions/records.ts';
import { personalProjects } from './personal.ts';
import { PROJECTS } from './records.ts';

it('cleans up behind the projects of a user, not behind other records', async () => {
  const cleaned: string[] = [];
  const deletion = { project: async (id) => void cleaned.push(id) } as Partial<DeletionCleanup>;
  const { erased } = personalProjects({ deletion: deletion as DeletionCleanup });
  await erased?.(SESSIONS, 's');
  await erased?.(PROJECTS, 'p');
  expect(cleaned).toEqual(['p']);
});
