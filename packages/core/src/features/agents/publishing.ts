import { requireAbility } from '../../identity/abilities.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import { actingFor } from '../../operations/audit.ts';
import { findNumberedPage } from '../../operations/find-page.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { type ApiError, conflict } from '../../shared/errors.ts';
import { agentNotFound, requireAgents } from './agents.ts';
import { approveAgent, listAgentSubmissions, refuseAgent } from './publishing-contract.ts';
import { AGENTS, type AgentRecord } from './records.ts';
import { toApplicationAgent } from './wire.ts';

export interface AgentPublishingServices extends PipelineServices {
  readonly store: Store;
  readonly adminSettings: AdminSettingsReader;
}

/** Handlers for administrators' decisions about public agents. */
export function agentPublishingRoutes(services: AgentPublishingServices): Route[] {
  return [createListHandler(services), createApproveHandler(services), createRefuseHandler(services)];
}

const STATES: Readonly<Record<'pending' | 'approved' | 'refused', Filter<AgentRecord>>> = {
  pending: { isPublic: true, publication: null },
  approved: { isPublic: true, publication: 'approved' },
  refused: { isPublic: true, publication: 'refused' },
};

/** `GET /api/agents/submissions` */
function createListHandler({ store, adminSettings, ...services }: AgentPublishingServices): Route {
  const agents = store.collection(AGENTS);
  return defineRoute(listAgentSubmissions, services, async ({ query }, { caller }) => {
    requireAbility(caller, 'administer', 'Agent');
    await requireAgents(adminSettings);
    const { AgentPublishing } = await adminSettings.current();
    const { state, order: direction = 'asc' } = query;
    const { rows, pagination } = await findNumberedPage(agents, STATES[state], query, {
      field: 'createdAt',
      direction,
    });
    const shown = rows.map((agent) => ({
      ...toApplicationAgent(agent, AgentPublishing),
      systemPrompt: agent.systemPrompt ?? null,
      preferredModel: agent.preferredModel ?? null,
      allowedTools: agent.allowedTools === undefined ? null : [...agent.allowedTools],
      deniedTools: agent.deniedTools === undefined ? null : [...agent.deniedTools],
    }));
    return { agents: shown, pagination };
  });
}

/** `POST /api/agents/{id}/approve` */
function createApproveHandler(services: AgentPublishingServices): Route {
  const { store, adminSettings } = services;
  return defineRoute(approveAgent, services, async ({ params, body }, call) => {
    const agents = actingFor(services, call).store.collection(AGENTS);
    requireAbility(call.caller, 'administer', 'Agent');
    await requireAgents(adminSettings);
    // The update itself compares versions: an administrator approves only the content that was read.
    const asRead = { isPublic: true, updatedAt: Date.parse(body.updatedAt) };
    const agent = await agents.update(params.id, { publication: 'approved' }, asRead);
    if (agent === undefined) throw await getRefusal(store, params.id);
    return toApplicationAgent(agent, (await adminSettings.current()).AgentPublishing);
  });
}

/** `POST /api/agents/{id}/refuse` */
function createRefuseHandler(services: AgentPublishingServices): Route {
  const { store, adminSettings } = services;
  return defineRoute(refuseAgent, services, async ({ params }, call) => {
    const agents = actingFor(services, call).store.collection(AGENTS);
    requireAbility(call.caller, 'administer', 'Agent');
    await requireAgents(adminSettings);
    const agent = await agents.update(params.id, { publication: 'refused' }, { isPublic: true });
    if (agent === undefined) throw await getRefusal(store, params.id);
    return toApplicationAgent(agent, (await adminSettings.current()).AgentPublishing);
  });
}

/** An agent that its owner keeps private looks unknown to administrators. */
async function getRefusal(store: Store, id: string): Promise<ApiError> {
  const agent = await store.collection(AGENTS).get(id, { isPublic: true });
  return agent === undefined ? agentNotFound() : conflict('The agent has changed. Read it again.');
}
