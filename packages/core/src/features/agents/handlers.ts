import { isSharedWith, sharedAs } from '../../access/access.ts';
import { actingFor } from '../../operations/audit.ts';
import { findPage } from '../../operations/find-page.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { ApiError } from '../../shared/errors.ts';
import {
  type AgentMakerServices,
  agentNotFound,
  changeAgent,
  makeAgent,
  requireAgents,
  usableAgent,
} from './agents.ts';
import { createAgent, deleteAgent, getAgent, listAgents, updateAgent } from './contract.ts';
import { type AgentDeletionServices, deleteOwnAgent } from './deletion.ts';
import type { AgentReach } from './reach.ts';
import { AGENTS } from './records.ts';
import { fromAgentBody, toWireAgent } from './wire.ts';

export interface AgentServices extends PipelineServices, AgentMakerServices, AgentDeletionServices {
  readonly agentReach: AgentReach;
}

/** All handlers of `/api/v1/agents`. */
export function agentRoutes(services: AgentServices): Route[] {
  return [
    createListAgentsHandler(services),
    createCreateAgentHandler(services),
    createGetAgentHandler(services),
    createUpdateAgentHandler(services),
    createDeleteAgentHandler(services),
  ];
}

/** `GET /api/v1/agents` */
function createListAgentsHandler(services: AgentServices): Route {
  const agents = services.store.collection(AGENTS);
  return defineRoute(listAgents, services, async ({ query }, { caller }) => {
    await requireAgents(services.adminSettings);
    const { userId } = caller;
    const { shared } = query;
    return findPage(
      agents,
      shared === 'true'
        ? isSharedWith(userId)
        : { anyOf: [{ ownerId: userId }, await services.agentReach.published()] },
      { list: listAgents.id, owner: userId, query, order: { field: 'createdAt', direction: 'asc' } },
      (row) => ({ ...toWireAgent(row, userId), ...sharedAs(row, userId, shared) }),
    );
  });
}

/** `POST /api/v1/agents` */
function createCreateAgentHandler(services: AgentServices): Route {
  return defineRoute(createAgent, services, async ({ body }, { caller }) => {
    await requireAgents(services.adminSettings);
    const { userId } = caller;
    const agent = await makeAgent(
      services,
      caller,
      { ...fromAgentBody(body), name: body.name },
      (most) =>
        new ApiError(400, `You have reached the maximum of ${most} agents`, {
          code: 'agent_limit_reached',
        }),
    );
    return toWireAgent(agent, userId);
  });
}

/** `GET /api/v1/agents/{id}` */
function createGetAgentHandler(services: AgentServices): Route {
  return defineRoute(getAgent, services, async ({ params }, { caller }) => {
    await requireAgents(services.adminSettings);
    const { userId } = caller;
    return toWireAgent(await usableAgent(services.agentReach, userId, params.id), userId);
  });
}

/** `PATCH /api/v1/agents/{id}` */
function createUpdateAgentHandler(services: AgentServices): Route {
  return defineRoute(updateAgent, services, async ({ params, body }, call) => {
    const { caller } = call;
    await requireAgents(services.adminSettings);
    const { userId } = caller;
    const agent = await changeAgent(actingFor(services, call), caller, params.id, fromAgentBody(body));
    if (agent === undefined) throw agentNotFound();
    return toWireAgent(agent, userId);
  });
}

/** `DELETE /api/v1/agents/{id}` */
function createDeleteAgentHandler(services: AgentServices): Route {
  return defineRoute(deleteAgent, services, async ({ params }, { caller }) => {
    await requireAgents(services.adminSettings);
    if (!(await deleteOwnAgent(services, caller.userId, params.id))) throw agentNotFound();
    return undefined;
  });
}
