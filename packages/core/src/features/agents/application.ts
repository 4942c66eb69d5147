import { isSharedWith, sharedAs } from '../../access/access.ts';
import { type AskServices, generateOnce } from '../../models/ask-once.ts';
import { actingFor } from '../../operations/audit.ts';
import { findNumberedPage } from '../../operations/find-page.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { createTotals } from '../../operations/totals.ts';
import type { Filter } from '../../ports/store.ts';
import { ApiError } from '../../shared/errors.ts';
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
import { type AgentDeletionServices, deleteOwnAgent } from './deletion.ts';
import { describingModel, toDescriptionQuestion } from './description.ts';
import type { AgentReach } from './reach.ts';
import { AGENTS, type AgentRecord } from './records.ts';
import { fromApplicationBody, toApplicationAgent } from './wire.ts';

export interface ApplicationAgentServices
  extends PipelineServices,
    AgentMakerServices,
    AgentDeletionServices,
    AskServices {
  readonly agentReach: AgentReach;
}

/** All handlers of `/api/agents`. */
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
  const count = createTotals<AgentRecord>(services);
  return defineRoute(listApplicationAgents, services, async ({ query }, { caller }) => {
    await requireAgents(services.adminSettings);
    const { AgentPublishing } = await services.adminSettings.current();
    const { sort, order: direction = 'desc', search = '', shared } = query;
    const { userId } = caller;
    const ownOnly = query.owned === 'true' || query.public === 'false';
    const own: Filter<AgentRecord> = { ownerId: userId };
    const listed = ownOnly ? [own] : [own, await services.agentReach.published()];
    const filter: Filter<AgentRecord> = {
      anyOf: (shared === 'true' ? (isSharedWith(userId).anyOf ?? []) : listed).map((one) => ({
        ...one,
        ...called(search),
      })),
    };
    const { rows, pagination } = await findNumberedPage(
      agents,
      filter,
      query,
      { field: sort, direction },
      count,
    );
    return {
      agents: rows.map((row) => ({
        ...toApplicationAgent(row, AgentPublishing),
        ...sharedAs(row, userId, shared),
      })),
      pagination,
    };
  });
}

/** `POST /api/agents` */
function createCreateHandler(services: ApplicationAgentServices): Route {
  return defineRoute(createApplicationAgent, services, async ({ body }, { caller }) => {
    await requireAgents(services.adminSettings);
    const input = { ...fromApplicationBody(body), name: body.name };
    const agent = await makeAgent(services, caller, input, limitExceeded);
    return toApplicationAgent(agent, (await services.adminSettings.current()).AgentPublishing);
  });
}

/** `GET /api/agents/{id}` */
function createGetHandler(services: ApplicationAgentServices): Route {
  return defineRoute(getApplicationAgent, services, async ({ params }, { caller }) => {
    await requireAgents(services.adminSettings);
    const agent = await usableAgent(services.agentReach, caller.userId, params.id);
    return toApplicationAgent(agent, (await services.adminSettings.current()).AgentPublishing);
  });
}

/** `PUT /api/agents/{id}` */
function createUpdateHandler(services: ApplicationAgentServices): Route {
  return defineRoute(updateApplicationAgent, services, async ({ params, body }, call) => {
    const { caller } = call;
    await requireAgents(services.adminSettings);
    const agent = await changeAgent(actingFor(services, call), caller, params.id, fromApplicationBody(body));
    if (agent === undefined) throw await toErrorResponse(services.agentReach, caller.userId, params.id);
    return toApplicationAgent(agent, (await services.adminSettings.current()).AgentPublishing);
  });
}

/** `DELETE /api/agents/{id}/delete` */
function createDeleteHandler(services: ApplicationAgentServices): Route {
  const { clock } = services;
  return defineRoute(deleteApplicationAgent, services, async ({ params }, { caller }) => {
    await requireAgents(services.adminSettings);
    if (!(await deleteOwnAgent(services, caller.userId, params.id)))
      throw await toErrorResponse(services.agentReach, caller.userId, params.id);
    return { message: 'The agent is deleted', deletedAt: new Date(clock.now()).toISOString() };
  });
}

/** `POST /api/agents/{id}/generate-description` */
function createDescribeHandler(services: ApplicationAgentServices): Route {
  return defineRoute(generateAgentDescription, services, async ({ params }, call) => {
    await requireAgents(services.adminSettings);
    const { userId } = call.caller;
    const agent = await usableAgent(services.agentReach, userId, params.id);
    const models = await services.getCatalogue(call.caller);
    const entry = describingModel(models, agent, await services.adminSettings.current());
    const text = await generateOnce(
      services,
      call,
      generateAgentDescription.id,
      entry,
      toDescriptionQuestion(agent),
    );
    return { description: text.trim(), generatedAt: new Date(services.clock.now()).toISOString() };
  });
}

function called(search: string): Filter<AgentRecord> {
  if (search === '') return {};
  return { anyOf: [{ name: { contains: search } }, { description: { contains: search } }] };
}

/** Maps a rejected change to an error: 403 only for callers who may read the agent, else 404. */
async function toErrorResponse(reach: AgentReach, userId: string, id: string): Promise<ApiError> {
  const { ownerId } = await usableAgent(reach, userId, id);
  if (ownerId === userId) return agentNotFound();
  return new ApiError(403, 'Only its owner may change this agent', {
    applicationCode: 'AGENT_ACCESS_DENIED',
  });
}

function limitExceeded(most: number): ApiError {
  return new ApiError(429, `You have reached the maximum of ${most} agents`, {
    applicationCode: 'AGENT_LIMIT_EXCEEDED',
  });
}
