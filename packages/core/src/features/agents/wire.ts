import type { AgentChange } from './agents.ts';
import type { ApplicationAgent, ApplicationAgentBody } from './application-contract.ts';
import type { AgentBody, WireAgent } from './contract.ts';
import { toTriggerWords } from './fields.ts';
import type { AgentPublishing, AgentRecord } from './records.ts';

/** An agent in the public API. */
export function toWireAgent(agent: AgentRecord, userId: string): WireAgent {
  const isOwner = agent.ownerId === userId;
  return {
    id: agent.id,
    name: agent.name,
    description: agent.description,
    system_prompt: isOwner ? (agent.systemPrompt ?? null) : null,
    preferred_model: agent.preferredModel ?? null,
    temperature: agent.temperature ?? null,
    max_tokens: agent.maxTokens ?? null,
    allowed_tools: agent.allowedTools === undefined ? null : [...agent.allowedTools],
    denied_tools: agent.deniedTools === undefined ? null : [...agent.deniedTools],
    trigger_words: [...agent.triggerWords],
    is_owner: isOwner,
    created_at: new Date(agent.createdAt).toISOString(),
    updated_at: new Date(agent.updatedAt).toISOString(),
  };
}

/** An agent in the application API. */
export function toApplicationAgent(agent: AgentRecord, publishing: AgentPublishing): ApplicationAgent {
  return {
    id: agent.id,
    name: agent.name,
    description: agent.description,
    avatarUrl: agent.avatarUrl ?? null,
    personality: { ...agent.personality },
    capabilities: [...agent.capabilities],
    triggerWords: [...agent.triggerWords],
    isPublic: agent.isPublic,
    publication: getPublication(agent, publishing),
    ownerId: agent.ownerId,
    createdAt: new Date(agent.createdAt).toISOString(),
    updatedAt: new Date(agent.updatedAt).toISOString(),
  };
}

/** The publication status of an agent. */
function getPublication(
  { isPublic, publication }: AgentRecord,
  publishing: AgentPublishing,
): ApplicationAgent['publication'] {
  if (!isPublic) return 'private';
  if (publication === 'refused') return 'refused';
  return publication === 'approved' || publishing === 'open' ? 'published' : 'pending';
}

/** The change that a body of the public API requests; null unsets. */
export function fromAgentBody(body: AgentBody): AgentChange {
  return {
    ...(body.name !== undefined && { name: body.name }),
    ...(body.description !== undefined && { description: body.description }),
    ...(body.system_prompt !== undefined && { systemPrompt: body.system_prompt ?? undefined }),
    ...(body.preferred_model !== undefined && { preferredModel: body.preferred_model ?? undefined }),
    ...(body.temperature !== undefined && { temperature: body.temperature ?? undefined }),
    ...(body.max_tokens !== undefined && { maxTokens: body.max_tokens ?? undefined }),
    ...(body.allowed_tools !== undefined && { allowedTools: body.allowed_tools ?? undefined }),
    ...(body.denied_tools !== undefined && { deniedTools: body.denied_tools ?? undefined }),
    ...(body.trigger_words !== undefined && { triggerWords: toTriggerWords(body.trigger_words) }),
  };
}

/** The change that a body of the application API requests. */
export function fromApplicationBody({
  name,
  description,
  avatarUrl,
  personality,
  capabilities,
  triggerWords,
  isPublic,
}: ApplicationAgentBody): AgentChange {
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(avatarUrl !== undefined && { avatarUrl: avatarUrl ?? undefined }),
    ...(personality !== undefined && { personality: namedTraits(personality) }),
    ...(capabilities !== undefined && { capabilities }),
    ...(triggerWords !== undefined && { triggerWords: toTriggerWords(triggerWords) }),
    ...(isPublic !== undefined && { isPublic }),
  };
}

function namedTraits(
  personality: NonNullable<ApplicationAgentBody['personality']>,
): AgentChange['personality'] {
  return Object.fromEntries(Object.entries(personality).filter(([, value]) => value !== undefined));
}
