import type { PromptPart } from '../../prompts/prompt.ts';
import { toAgentCard } from './events.ts';
import type { AgentPersonality, AgentRecord } from './records.ts';

const TRAITS: readonly (readonly [keyof AgentPersonality, string])[] = [
  ['majorMotivation', 'What drives you most'],
  ['minorMotivation', 'What drives you too'],
  ['characterFlaw', 'Your flaw'],
  ['uniqueQuirk', 'Your quirk'],
  ['responseStyle', 'How you answer'],
];

/** Builds the system prompt of an agent. The prompt's text is visible only where `userId` owns the agent. */
export function toPersona(agent: AgentRecord, userId: string): PromptPart {
  const { name, description, capabilities, personality, systemPrompt } = agent;
  const lines = [
    `You speak as ${name}.${description === '' ? '' : ` ${description}`}`,
    ...TRAITS.filter(([trait]) => personality[trait] !== '').map(
      ([trait, title]) => `${title}: ${personality[trait]}`,
    ),
    ...(capabilities.length > 0 ? [`You are good at: ${capabilities.join(', ')}`] : []),
    ...(systemPrompt === undefined || systemPrompt === '' ? [] : [systemPrompt]),
  ];
  return {
    source: 'session',
    name: `agent:${name}`,
    text: lines.join('\n'),
    agent: toAgentCard(agent),
    isPrivate: agent.ownerId !== userId,
  };
}
