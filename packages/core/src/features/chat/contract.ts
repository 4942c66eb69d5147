import * as z from 'zod';
import { deprecatedName } from '../../contract/fields.ts';
import { distinctStrings, jsonObject, list, MAX_TOOLS } from '../../contract/lists.ts';
import { defineOperation } from '../../contract/operation.ts';
import { text } from '../../contract/text.ts';
import { promptDetail, promptMode } from '../../prompts/contract.ts';
import {
  pendingApproval,
  providerError,
  questErrorCode,
  questStatus,
  questType,
  stopReason,
  toolPayload,
} from '../quests/contract.ts';

const MAX_CLIENT_TOOLS = 50;
/** Maximum properties of a schema. */
const MAX_PROPERTIES = 100;

const outputCap = z.number().gt(0).optional();

export const chatBody = z.object({
  message: z.string().describe('The text of the user.'),
  sessionId: z.string().nullable().optional().meta({ description: 'The session to continue.' }),
  newConversation: z
    .boolean()
    .optional()
    .describe(
      'Starts a new session. Default: the session of `sessionId`; without it, a new one for an API key and the latest one of a signed-in user.',
    ),
  organizationId: z.string().optional().meta({ description: 'The organization that pays.' }),
  model: z.string().optional().meta({
    description:
      'Default: the preferred model of an attached agent that the message mentions, else the setting `DefaultAPIModel`.',
  }),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .optional()
    .describe('The sampling temperature. Lower values give more predictable answers.'),
  max_tokens: outputCap.meta({
    description:
      'Output cap, reasoning included; rounded down, and lowered to the maximum of the model. Default: depends on the model. The ' +
      'first of three spellings wins.',
  }),
  maxTokens: outputCap.describe('Another spelling of `max_tokens`.'),
  maxOutputTokens: outputCap.describe('Another spelling of `max_tokens`.'),
  stream: z.boolean().default(false).meta({ description: 'Ignored.' }),
  historyCount: z
    .number()
    .gt(0)
    .optional()
    .meta({
      description:
        'Number of earlier messages for the model, rounded up. Default: 10 to 19, so that most turns begin with ' +
        'the same messages and hit the cache of the provider.',
    }),
  fileIds: distinctStrings(100).default([]).describe('The ids of files to attach to the message.'),
  wait: z.boolean().default(false).meta({ description: 'Respond when the reply is ready.' }),
  enableTools: z
    .boolean()
    .default(false)
    .describe(
      'Offers the default tools, and turns on the features that the request does not name. A `toolMode` wins.',
    ),
  toolMode: z
    .enum(['fast', 'smart'])
    .optional()
    .describe('`fast`: without tools. `smart`: with the tools that suit the message.'),
  tools: distinctStrings(MAX_TOOLS)
    .optional()
    .describe('The ids of tools to offer in addition. Unknown ids are reported and ignored.'),
  approvals: z
    .boolean()
    .optional()
    .describe(
      'Calls of gated tools wait for a decision of the user: the quest has the status `waiting` and `pendingApprovals`. ' +
        'Gated tools are offered like other tools then.',
    ),
  clientTools: list(
    z.object({
      name: z
        .string()
        .regex(/^[a-zA-Z0-9_-]{1,64}$/)
        .describe('The name of the tool: no id of a tool of the server.'),
      description: text({ max: 4000 }).describe('When to use the tool, for the model.'),
      parameters: jsonObject(MAX_PROPERTIES).describe('A JSON Schema of type object.'),
    }),
    { max: MAX_CLIENT_TOOLS },
  )
    .optional()
    .describe('Tools of the client, with `approvals: true`. A call waits until the client gives its result.'),
  enableQuestMaster: z
    .boolean()
    .optional()
    .describe('Splits a large task into a plan of smaller ones that run in parallel.'),
  enableMementos: z
    .boolean()
    .optional()
    .describe('Whether the turn uses and extends what is remembered about the user.'),
  enableAgents: z.boolean().optional().describe('Whether agents that the message mentions shape the answer.'),
  promptMode: promptMode.optional().describe('Which system prompts the workspace adds to the turn.'),
  skip_auto_offers: z
    .boolean()
    .optional()
    .describe('Leaves out tools that the workspace would offer by itself.'),
  includePromptDetails: z
    .boolean()
    .optional()
    .describe('Adds the list of prompt parts to the answer and to the quest.'),
  includeSystemPrompt: z
    .boolean()
    .optional()
    .describe(
      'Adds the system prompt to the answer and to the quest. Parts that belong to others are only named.',
    ),
  systemPrompt: text({ max: 16_000 }).optional().meta({ description: 'For this turn only; never stored.' }),
});

const toolEcho = z.object({
  toolMode: z.enum(['fast', 'smart']).optional().describe('The tool mode of the turn.'),
  autoSelectedTools: z.array(z.string()).describe('The ids of the tools that were chosen for the message.'),
  effectiveTools: z.array(z.string()).describe('The ids of the tools that the model was offered.'),
  unrecognizedTools: z.array(z.string()).meta({ description: 'The first 10.' }),
});

const acknowledgement = z.object({
  id: z.string().meta({ description: 'Id of the quest to poll.' }),
  status: z.string().describe('The state of the work: `queued`, or that of the quest.'),
  message_received: z.boolean().describe('Whether the message is accepted.'),
  timestamp: z.iso.datetime().describe('The time at which the message was accepted.'),
  model: z.string().describe('The id of the model that answers.'),
  tracking_info: z
    .object({
      quest_id: z.string().describe('The id of the quest to poll.'),
      check_status_url: z.string().describe('The path of the quest. The same as `poll_url`.'),
      poll_url: z.string().describe('The path of the quest to poll.'),
    })
    .describe('Where to ask for the answer.'),
  sessionId: z.string().describe('The id of the session, to continue it.'),
  maxTokens: z
    .int()
    .optional()
    .meta({ description: 'The applied cap, when the request exceeds the maximum of the model.' }),
  tools: toolEcho.optional().describe('The tools of the turn, when the request asked for some.'),
});

const completed = acknowledgement.extend({
  status: questStatus.describe('The state of the quest.'),
  pendingApprovals: z
    .array(pendingApproval)
    .optional()
    .describe('With the status `waiting`: the calls to decide about.'),
  type: questType.describe('Check this first: `error` is a failure.'),
  errorCode: questErrorCode
    .optional()
    .describe('The code of the failure, for failures that clients branch on.'),
  stopReason: stopReason
    .optional()
    .describe('Why the model stopped. `max_tokens`: its output cap cut the answer.'),
  providerError: providerError
    .optional()
    .describe('The failure of the model provider, when it caused the end.'),
  response: z.string().nullable().describe('The answer, or the text of the failure; null without a text.'),
  responses: z.array(z.string()).describe('All texts of the answer, in order.'),
  toolPayloads: z.array(toolPayload).describe('The data that tools returned for the user interface.'),
  createdAt: z.iso.datetime().describe('The time of the request.'),
  performance: z
    .object({
      total_ms: z.number().describe('The duration of the turn, in milliseconds.'),
      phases: z.record(z.string(), z.number()).describe('The duration of each phase, in milliseconds.'),
      pipeline_phases: z.record(z.string(), z.number()).optional().describe('The same as `phases`.'),
    })
    .describe('How long the turn took.'),
  promptDetails: z
    .array(promptDetail)
    .optional()
    .describe('The parts of the prompt, with `includePromptDetails`.'),
  promptText: z
    .string()
    .optional()
    .describe('The system prompt, with `includeSystemPrompt`. Parts that belong to others are only named.'),
});

const waitTimeout = z.object({
  error: z.string().describe('The problem, for people. Never branch on it.'),
  errorCode: z.literal('request_timeout').describe('The code to branch on.'),
  quest_id: z.string().describe('The id of the quest, which goes on: poll it.'),
  sessionId: z.string().optional().describe('The id of the session, to continue it.'),
  request_id: z.string().optional().describe('Equals the `X-Request-ID` header.'),
  name: deprecatedName,
});

export type ChatBody = z.output<typeof chatBody>;
export type Acknowledgement = z.input<typeof acknowledgement>;
export type CompletedTurn = z.input<typeof completed>;
export type ToolEcho = z.input<typeof toolEcho>;

export const sendChatMessage = defineOperation({
  id: 'sendChatMessage',
  paid: true,
  method: 'POST',
  path: '/api/chat',
  tag: 'AI',
  summary: 'Send a message in a session',
  description:
    'Acknowledges at once; the turn runs as a quest to be polled. With `wait: true` the response carries the reply, or ' +
    'has status 504 after a timeout; the quest goes on then. The quest reports problems with the model or the ' +
    'credits. A body with `messages` in place of `message` is that of `useChat` of the AI SDK, and is answered with ' +
    'its UI message stream.',
  auth: 'key-or-token',
  scopes: ['ai:chat', 'ai:generate'],
  rate: { key: 'standard', user: 'standard' },
  owner: 'caller-or-shared',
  family: 'public',
  subject: 'Session',
  input: { body: chatBody },
  output: {
    200: {
      description: 'The acknowledgement, or the completed turn. With `messages`: the UI message stream.',
      schema: z.union([completed, acknowledgement]),
    },
  },
  refusals: [
    {
      status: 400,
      description: 'The model is unknown, disabled or no chat model, or no default model is set.',
    },
    { status: 404, description: 'The session, the organization or a file is unknown to the caller.' },
    { status: 409, description: 'With `messages`: an answer is still being written in the chat.' },
    { status: 503, description: 'The service is about to restart; retry after `Retry-After`.' },
    {
      status: 504,
      description: 'The reply was not ready in time. The quest goes on.',
      schema: waitTimeout,
    },
  ],
  idempotent: true,
  pollResult: 'getQuestResponse200',
});
