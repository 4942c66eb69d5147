import { ApiError } from '../errors.ts';
import { paginationOf } from '../http/pages.ts';
import { type AskServices, askOnce } from '../models/ask-once.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { Filter, Store } from '../ports/store.ts';
import { defineRoute, type Route } from '../route.ts';
import {
  type AgentMakerServices,
  agentNotFound,
  changeAgent,
  makeAgent,
  requireAgents,
  usableAgent,
} from './agents.ts';
import {
  createApplicationAgent,
  deleteApplicationAgent,
  generateAgentDescription,
  getApplicationAgent,
  listApplicationAgents,
  updateApplicationAgent,
} from './application-contract.ts';
import { describingModel, descriptionWish } from './description.ts';
import { AGENTS, type AgentRecord } from './records.ts';
import { fromApplicationBody, toApplicationAgent } from './wire.ts';

export interface ApplicationAgentServices extends PipelineServices, AgentMakerServices, AskServices {}

/** All of `/api/agents`. */
export function applicationAgentRoutes(services: ApplicationAgentServices): Route[] {
  return [
    createListHandler(services),
    createCreateHandler(services),
    createGetHandler(services),
    createUpdateHandler(services),
    createDeleteHandler(services),
    createDescribeHandler(services),
  ];
}

/** `GET /api/agents` */
function createListHandler(services: ApplicationAgentServices): Route {
  const agents = services.store.collection(AGENTS);
  return defineRoute(listApplicationAgents, services, async ({ query }, { caller }) => {
    await requireAgents(services.switches);
    const { page, limit, sort, order: direction = 'desc', search = '' } = query;
    const ownOnly = query.owned === 'true' || query.public === 'false';
    const own: Filter<AgentRecord> = { ownerId: caller.userId };
    const filter: Filter<AgentRecord> = {
      anyOf: (ownOnly ? [own] : [own, { isPublic: true }]).map((one) => ({ ...one, ...called(search) })),
    };
    const [total, rows] = await Promise.all([
      agents.count(filter),
      agents.find(filter, { order: { field: sort, direction }, offset: (page - 1) * limit, limit }),
    ]);
    return { agents: rows.map(toApplicationAgent), pagination: paginationOf(query, total) };
  });
}

/** `POST /api/agents` */
function createCreateHandler(services: ApplicationAgentServices): Route {
  return defineRoute(createApplicationAgent, services, async ({ body }, { caller }) => {
    await requireAgents(services.switches);
    const wish = { ...fromApplicationBody(body), name: body.name };
    return toApplicationAgent(await makeAgent(services, caller.userId, wish, limitExceeded));
  });
}

/** `GET /api/agents/{id}` */
function createGetHandler(services: ApplicationAgentServices): Route {
  return defineRoute(getApplicationAgent, services, async ({ params }, { caller }) => {
    await requireAgents(services.switches);
    return toApplicationAgent(await usableAgent(services.store, caller.userId, params.id));
  });
}

/** `PUT /api/agents/{id}` */
function createUpdateHandler(services: ApplicationAgentServices): Route {
  return defineRoute(updateApplicationAgent, services, async ({ params, body }, { caller }) => {
    await requireAgents(services.switches);
    const agent = await changeAgent(services, caller.userId, params.id, fromApplicationBody(body));
    if (agent === undefined) throw await refusalOf(services.store, caller.userId, params.id);
    return toApplicationAgent(agent);
  });
}

/** `DELETE /api/agents/{id}/delete` */
function createDeleteHandler(services: ApplicationAgentServices): Route {
  const { store, clock } = services;
  return defineRoute(deleteApplicationAgent, services, async ({ params }, { caller }) => {
    await requireAgents(services.switches);
    const deleted = await store.collection(AGENTS).take(params.id, { ownerId: caller.userId });
    if (deleted === undefined) throw await refusalOf(store, caller.userId, params.id);
    return { message: 'The agent is deleted', deletedAt: new Date(clock.now()).toISOString() };
  });
}

/** `POST /api/agents/{id}/generate-description` */
function createDescribeHandler(services: ApplicationAgentServices): Route {
  return defineRoute(generateAgentDescription, services, async ({ params }, call) => {
    await requireAgents(services.switches);
    const { userId } = call.caller;
    const agent = await usableAgent(services.store, userId, params.id);
    const models = await services.catalogueOf(userId);
    const entry = describingModel(models, agent, await services.switches.current());
    const text = await askOnce(services, call, generateAgentDescription.id, entry, descriptionWish(agent));
    return { description: text.trim(), generatedAt: new Date(services.clock.now()).toISOString() };
  });
}

function called(search: string): Filter<AgentRecord> {
  if (search === '') return {};
  return { anyOf: [{ name: { contains: search } }, { description: { contains: search } }] };
}

/** Why an agent could not be written: 403 is told only to who may read it. */
async function refusalOf(store: Store, userId: string, id: string): Promise<ApiError> {
  const { ownerId } = await usableAgent(store, userId, id);
  if (ownerId === userId) return agentNotFound();
  return new ApiError(403, 'Only its owner may change this agent', {
    applicationCode: 'AGENT_ACCESS_DENIED',
  });
}

function limitExceeded(most: number): ApiError {
  return new ApiError(429, `You have ${most} agents, as many as there may be`, {
    applicationCode: 'AGENT_LIMIT_EXCEEDED',
  });
}
