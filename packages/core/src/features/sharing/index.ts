import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { inviteAudit } from './audit.ts';
import { inviteEvents } from './events.ts';
import { personalInvites } from './personal.ts';
import { SHARING_INVITES } from './records.ts';

/** The routes are in `app/`: they need every shareable kind. */
export const sharing = {
  name: 'sharing',
  eventSources: [inviteEvents],
  auditSources: [inviteAudit],
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  collections: [SHARING_INVITES],
  personal: (services: ServicesFor<typeof personalInvites>) => personalInvites(services),
};
