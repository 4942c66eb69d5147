import type { DeletionCleanup } from '../../operations/deletion.ts';
import type { PersonalData } from '../../operations/personal-data.ts';
import { MESSAGES, SESSIONS } from './records.ts';

export function personalSessions({ deletion }: { readonly deletion: DeletionCleanup }): PersonalData {
  return {
    parts: [{ whole: SESSIONS, part: MESSAGES, field: 'sessionId' }],
    erased: async (shape, id) => (shape === SESSIONS ? deletion.session(id) : undefined),
  };
}
