import { ApiError } from '../errors.ts';
import { decodeCursor, encodeCursor, pageOf } from '../http/cursor.ts';
import type { PipelineServices } from '../pipeline.ts';
import { defineRoute, type Route } from '../route.ts';
import {
  type AgentMakerServices,
  agentNotFound,
  changeAgent,
  makeAgent,
  requireAgents,
  usableAgent,
} from './agents.ts';
import { createAgent, deleteAgent, getAgent, listAgents, updateAgent } from './contract.ts';
import { AGENTS } from './records.ts';
import { fromAgentBody, toWireAgent } from './wire.ts';

export interface AgentServices extends PipelineServices, AgentMakerServices {}

/** All of `/api/v1/agents`. */
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
    await requireAgents(services.switches);
    const { userId } = caller;
    const { limit, cursor } = query;
    const after = decodeCursor(listAgents.id, userId, cursor);
    const rows = await agents.find(
      { anyOf: [{ ownerId: userId }, { isPublic: true }] },
      {
        order: { field: 'createdAt', direction: 'asc' },
        limit: limit + 1,
        ...(after !== undefined && { after }),
      },
    );
    return pageOf(
      rows,
      limit,
      (row) => toWireAgent(row, userId),
      ({ id, createdAt }) => encodeCursor(listAgents.id, userId, { value: createdAt, id }),
    );
  });
}

/** `POST /api/v1/agents` */
function createCreateAgentHandler(services: AgentServices): Route {
  return defineRoute(createAgent, services, async ({ body }, { caller }) => {
    await requireAgents(services.switches);
    const { userId } = caller;
    const agent = await makeAgent(
      services,
      userId,
      { ...fromAgentBody(body), name: body.name },
      (most) =>
        new ApiError(400, `You have ${most} agents, as many as there may be`, {
          code: 'agent_limit_reached',
        }),
    );
    return toWireAgent(agent, userId);
  });
}

/** `GET /api/v1/agents/{id}` */
function createGetAgentHandler(services: AgentServices): Route {
  return defineRoute(getAgent, services, async ({ params }, { caller }) => {
    await requireAgents(services.switches);
    const { userId } = caller;
    return toWireAgent(await usableAgent(services.store, userId, params.id), userId);
  });
}

/** `PATCH /api/v1/agents/{id}` */
function createUpdateAgentHandler(services: AgentServices): Route {
  return defineRoute(updateAgent, services, async ({ params, body }, { caller }) => {
    await requireAgents(services.switches);
    const { userId } = caller;
    const agent = await changeAgent(services, userId, params.id, fromAgentBody(body));
    if (agent === undefined) throw agentNotFound();
    return toWireAgent(agent, userId);
  });
}

/** `DELETE /api/v1/agents/{id}` */
function createDeleteAgentHandler(services: AgentServices): Route {
  const agents = services.store.collection(AGENTS);
  return defineRoute(deleteAgent, services, async ({ params }, { caller }) => {
    await requireAgents(services.switches);
    if ((await agents.take(params.id, { ownerId: caller.userId })) === undefined) throw agentNotFound();
    return undefined;
  });
}
