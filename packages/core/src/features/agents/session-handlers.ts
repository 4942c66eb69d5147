import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { requireAgents } from './agents.ts';
import { type AttachmentServices, attachAgent, attachedAgents, detachAgent } from './attachments.ts';
import { attachSessionAgent, detachSessionAgent, listSessionAgents } from './session-contract.ts';

export interface SessionAgentServices extends PipelineServices, AttachmentServices {
  readonly adminSettings: AdminSettingsReader;
}

/** All handlers of `/api/sessions/{sessionId}/agents`. */
export function sessionAgentRoutes(services: SessionAgentServices): Route[] {
  return [createListHandler(services), createAttachHandler(services), createDetachHandler(services)];
}

/** `GET /api/sessions/{sessionId}/agents` */
function createListHandler(services: SessionAgentServices): Route {
  return defineRoute(listSessionAgents, services, async ({ params }, { caller }) => {
    await requireAgents(services.adminSettings);
    const attached = await attachedAgents(services, caller.userId, params.sessionId);
    return {
      agents: attached.map(({ agent, attachedAt }) => ({ ...agent, attachedAt: toTime(attachedAt) })),
    };
  });
}

/** `POST /api/sessions/{sessionId}/agents` */
function createAttachHandler(services: SessionAgentServices): Route {
  return defineRoute(attachSessionAgent, services, async ({ params, body }, { caller }) => {
    await requireAgents(services.adminSettings);
    const { agent, attachedAt } = await attachAgent(services, caller.userId, params.sessionId, body.agentId);
    return { message: 'The agent is attached', agent, attachedAt: toTime(attachedAt) };
  });
}

/** `DELETE /api/sessions/{sessionId}/agents` */
function createDetachHandler(services: SessionAgentServices): Route {
  return defineRoute(detachSessionAgent, services, async ({ params, query }, { caller }) => {
    await requireAgents(services.adminSettings);
    const detachedAt = await detachAgent(services, caller.userId, params.sessionId, query.agentId);
    return { message: 'The agent is detached', detachedAt: toTime(detachedAt) };
  });
}

function toTime(at: number): string {
  return new Date(at).toISOString();
}
