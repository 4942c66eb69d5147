import * as z from 'zod';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';
import { questErrorCode, questStatus, questType, toolPayload } from '../quests/contract.ts';

const outputCap = z.number().gt(0).optional();

const body = z.object({
  message: z.string(),
  sessionId: z.string().nullable().optional().meta({ description: 'The session to continue.' }),
  newConversation: z.boolean().optional(),
  organizationId: z.string().optional().meta({ description: 'The organization that pays.' }),
  model: z.string().optional().meta({
    description:
      'Default: what an attached agent prefers that the message mentions, else the setting `DefaultAPIModel`.',
  }),
  temperature: z.number().min(0).max(2).optional(),
  max_tokens: outputCap.meta({
    description:
      'Output cap, rounded down, at most that of the model. Default 4096. The first of three spellings wins.',
  }),
  maxTokens: outputCap,
  maxOutputTokens: outputCap,
  stream: z.boolean().default(false).meta({ description: 'Without effect.' }),
  historyCount: z
    .number()
    .gt(0)
    .default(10)
    .meta({ description: 'Earlier messages the model is given, rounded up.' }),
  fileIds: z.array(z.string()).default([]),
  wait: z.boolean().default(false).meta({ description: 'Answer when the reply is ready.' }),
  enableTools: z.boolean().default(false),
  toolMode: z.enum(['fast', 'smart']).optional(),
  tools: z.array(z.string()).optional(),
  enableQuestMaster: z.boolean().optional(),
  enableMementos: z.boolean().optional(),
  enableAgents: z.boolean().optional(),
  promptMode: z.enum(['raw', 'grounded', 'surface']).optional(),
  skip_auto_offers: z.boolean().optional(),
  includePromptDetails: z.boolean().optional(),
  includeSystemPrompt: z.boolean().optional(),
  systemPrompt: text({ max: 16_000 }).optional().meta({ description: 'For this turn only; never kept.' }),
});

const toolEcho = z.object({
  toolMode: z.enum(['fast', 'smart']).optional(),
  autoSelectedTools: z.array(z.string()),
  effectiveTools: z.array(z.string()),
  unrecognizedTools: z.array(z.string()).meta({ description: 'The first 10.' }),
});

const acknowledgement = z.object({
  id: z.string().meta({ description: 'The quest to poll.' }),
  status: z.string(),
  message_received: z.boolean(),
  timestamp: z.iso.datetime(),
  model: z.string(),
  tracking_info: z.object({
    quest_id: z.string(),
    check_status_url: z.string(),
    poll_url: z.string(),
  }),
  sessionId: z.string(),
  tools: toolEcho.optional(),
});

export const promptDetail = z.object({
  source: z.enum(['hardcoded', 'admin', 'user', 'project', 'session', 'org', 'caller']),
  name: z.string(),
  tokenCount: z.number(),
  wasIncluded: z.boolean(),
  exclusionReason: z.enum(['duplicate', 'disabled', 'token_limit']).optional(),
});

const completed = acknowledgement.extend({
  status: questStatus,
  type: questType,
  errorCode: questErrorCode.optional(),
  response: z.string().nullable(),
  responses: z.array(z.string()),
  toolPayloads: z.array(toolPayload),
  createdAt: z.iso.datetime(),
  performance: z.object({
    total_ms: z.number(),
    phases: z.record(z.string(), z.number()),
    pipeline_phases: z.record(z.string(), z.number()).optional(),
  }),
  promptDetails: z.array(promptDetail).optional(),
  promptText: z.string().optional(),
});

const waitTimeout = z.object({
  error: z.string(),
  errorCode: z.literal('request_timeout'),
  quest_id: z.string(),
  sessionId: z.string().optional(),
  request_id: z.string().optional(),
  name: z.string().optional(),
});

export type ChatBody = z.output<typeof body>;
export type Acknowledgement = z.input<typeof acknowledgement>;
export type CompletedTurn = z.input<typeof completed>;
export type ToolEcho = z.input<typeof toolEcho>;
export type PromptDetail = z.input<typeof promptDetail>;

export const sendChatMessage = defineOperation({
  id: 'sendChatMessage',
  method: 'POST',
  path: '/api/chat',
  tag: 'AI',
  summary: 'Say something in a session',
  description:
    'Acknowledges at once; the turn runs as a quest to be polled. With `wait: true` the answer comes with the reply, or ' +
    'with 504 when that takes too long; the quest goes on then. What goes wrong with the model or the credits is told ' +
    'by the quest.',
  auth: 'key-or-token',
  scopes: ['ai:chat', 'ai:generate'],
  rate: { key: 'standard', user: 'unlimited' },
  owner: 'caller-or-shared',
  family: 'public',
  subject: 'Session',
  input: { body },
  output: {
    200: {
      description: 'The acknowledgement, or the completed turn.',
      schema: z.union([completed, acknowledgement]),
    },
  },
  refusals: [
    { status: 400, description: 'The model is unknown, disabled or no chat model, or there is no default.' },
    { status: 404, description: 'The session, the organization or a file is unknown to the caller.' },
    { status: 503, description: 'The service is about to restart; `Retry-After` says when to come back.' },
    {
      status: 504,
      description: 'The reply was not ready in time. The quest goes on.',
      schema: waitTimeout,
    },
  ],
  idempotent: true,
  pollResult: 'getQuestResponse200',
});
