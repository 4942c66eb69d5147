import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { applicationAgentRoutes } from './application.ts';
import { publishAttachments } from './attachments.ts';
import { agentAudit } from './audit.ts';
import { delegationTools } from './delegation.ts';
import { createDetachHandler } from './deletion.ts';
import { agentRoutes } from './handlers.ts';
import { mentionedAgents } from './mentions.ts';
import { personalAgents } from './personal.ts';
import { agentPublishingRoutes } from './publishing.ts';
import { AGENTS } from './records.ts';
import { sessionAgentRoutes } from './session-handlers.ts';

export const agents = {
  name: 'agents',
  auditSources: [agentAudit],
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  collections: [AGENTS],
  routes: (
    services: ServicesFor<typeof agentRoutes> &
      ServicesFor<typeof applicationAgentRoutes> &
      ServicesFor<typeof agentPublishingRoutes> &
      ServicesFor<typeof sessionAgentRoutes>,
  ) => [
    ...agentRoutes(services),
    ...applicationAgentRoutes(services),
    ...agentPublishingRoutes(services),
    ...sessionAgentRoutes(services),
  ],
  jobs: (services: ServicesFor<typeof createDetachHandler>) => [createDetachHandler(services)],
  personal: (services: ServicesFor<typeof personalAgents>) => personalAgents(services),
  sessionListeners: (services: ServicesFor<typeof publishAttachments>) => [publishAttachments(services)],
  tools: (services: ServicesFor<typeof delegationTools>) => [delegationTools(services)],
  promptSources: (services: ServicesFor<typeof mentionedAgents>) => [mentionedAgents(services)],
};
