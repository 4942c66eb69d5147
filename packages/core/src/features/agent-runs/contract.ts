import * as z from 'zod';
import { idParams } from '../../contract/identifiers.ts';
import { distinctStrings, MAX_TOOLS } from '../../contract/lists.ts';
import { eventsQuery, LIVE_EVENTS_DESCRIPTION, liveEventsOutput } from '../../contract/live-events.ts';
import { defineOperation } from '../../contract/operation.ts';
import { text } from '../../contract/text.ts';
import { stopReason } from '../quests/contract.ts';

const ids = distinctStrings(100).optional();

const body = z.strictObject({
  session_id: text({ min: 1 }).meta({ description: 'The session the run belongs to.' }),
  message: text({ min: 1 }).meta({ description: 'The task.' }),
  model: z
    .string()
    .optional()
    .meta({ description: "Default: the agent's preferred model, else the setting `DefaultAPIModel`." }),
  agent_id: z
    .string()
    .optional()
    .describe('The id of the agent whose instructions, model and tools the run uses.'),
  organization_id: z.string().optional().meta({ description: 'The organization that pays.' }),
  tools: distinctStrings(MAX_TOOLS)
    .optional()
    .meta({ description: 'Ids of tools that are approved in advance. Unknown ids are ignored.' }),
  approvals: z
    .boolean()
    .optional()
    .describe(
      'Calls of gated tools that `tools` does not contain wait for a decision of the user: the run has the status ' +
        '`waiting` and `pending_approvals`. Default: such a call fails the run.',
    ),
  max_iterations: z
    .int()
    .min(1)
    .max(100)
    .default(20)
    .meta({ description: 'Maximum number of model rounds. In the last one the model must answer.' }),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .optional()
    .describe('The sampling temperature. Lower values give more predictable answers.'),
  max_tokens: z.int().gt(0).optional().meta({
    description:
      'Output tokens of one round, reasoning included; lowered to the maximum of the model. Default: depends on the model.',
  }),
  thinking: z
    .strictObject({
      enabled: z.boolean().describe('Whether the model reasons before it answers.'),
      budget_tokens: z
        .int()
        .gt(0)
        .max(32_000)
        .optional()
        .describe('The maximum number of tokens for reasoning.'),
    })
    .optional()
    .meta({ description: 'Ignored by models without reasoning.' }),
  file_ids: ids.describe('The ids of files to attach to the task.'),
  session_file_ids: ids.describe('The ids of files of the session to attach to the task.'),
  enable_mementos: z.boolean().optional().describe('Whether the run uses what is remembered about the user.'),
  enable_lattice: z
    .boolean()
    .optional()
    .meta({ description: 'Offers `create_lattice`, which stores tables, while artifacts are switched on.' }),
  enable_artifacts: z
    .boolean()
    .optional()
    .meta({ description: 'Offers `create_artifact`, while artifacts are switched on.' }),
});

const started = z.object({
  id: z.string().describe('The id of the run.'),
  status: z.literal('pending').describe('The run is accepted.'),
  session_id: z.string().describe('The id of the session that the run belongs to.'),
  model: z.string().describe('The id of the model.'),
  max_tokens: z
    .int()
    .optional()
    .meta({ description: 'The applied cap, when the request exceeds the maximum of the model.' }),
  timestamp: z.iso.datetime().describe('The time at which the run was accepted.'),
  tracking_info: z
    .object({
      execution_id: z.string().describe('The id of the run to poll.'),
      poll_url: z.string().describe('The path of the run to poll.'),
      quest_id: z.string().optional().describe('The id of the quest of the run, if it has one.'),
    })
    .describe('Where to ask for the result.'),
});

const execution = z.object({
  id: z.string().describe('The id of the run.'),
  status: z
    .enum(['pending', 'running', 'waiting', 'completed', 'failed', 'aborted'])
    .describe(
      'The state of the run. `completed`, `failed` and `aborted` are final. `waiting`, only with `approvals: true`: decide ' +
        'about `pending_approvals`.',
    ),
  pending_approvals: z
    .array(
      z.object({
        call_id: z.string().describe('The id of the call: the `callId` of a decision.'),
        tool: z.string().describe('The id of the tool.'),
        input: z.unknown().describe('The input that the model wants to send.'),
        decision: z
          .enum(['approve', 'reject', 'edit', 'answer'])
          .optional()
          .describe('The decision, once it is taken.'),
      }),
    )
    .optional()
    .describe(
      'While the run waits, for the user who started it: the calls to decide about, with ' +
        '`POST /api/v1/quests/{id}/decisions` and the id of the run.',
    ),
  session_id: z
    .string()
    .nullable()
    .describe('The id of the session that the run belongs to; null after its deletion.'),
  answer: z.string().nullable().describe('The answer; null before the run has one.'),
  error: z.string().nullable().meta({ description: 'The reason of a failure or an abort.' }),
  stop_reason: stopReason
    .optional()
    .describe('Why the model stopped. `max_tokens`: its output cap cut the answer.'),
  provider_error: z
    .object({
      status: z.number().int().optional().describe("The HTTP status of the provider's answer."),
      code: z.string().optional().describe("The provider's own error code, or `circuit_open`."),
      param: z.string().optional().describe('The request parameter that the provider rejected.'),
      retry_after: z.number().int().optional().describe('Seconds to wait before a retry.'),
    })
    .optional()
    .meta({ description: 'The failure of the model provider, when it caused the end.' }),
  steps: z
    .array(
      z.object({
        type: z.enum(['thought', 'action', 'observation', 'final_answer']).describe('What the step is.'),
        content: z.string().describe('The text of the step.'),
        iteration: z.int().optional().describe('The model round of the step, from 1.'),
        tool_name: z.string().optional().describe('The tool of the step.'),
      }),
    )
    .describe('What happened, in order.'),
  total_iterations: z.int().nullable().describe('The number of model rounds; null until the end.'),
  created_at: z.iso.datetime().describe('The time of the request.'),
  updated_at: z.iso.datetime().describe('The time of the last change.'),
});

export type ExecutionBody = z.output<typeof body>;
export type StartedExecution = z.input<typeof started>;
export type WireExecution = z.input<typeof execution>;

const common = {
  tag: 'AI',
  auth: 'key-or-token',
  scopes: ['ai:chat', 'ai:generate'],
  owner: 'caller-or-shared',
  family: 'public',
} as const;

export const startAgentExecution = defineOperation({
  ...common,
  id: 'startAgentExecution',
  paid: true,
  method: 'POST',
  path: '/api/v1/agent-executions',
  summary: 'Start an agent run',
  description:
    'A model thinks, calls tools and observes their results, round by round, until it answers. Acknowledges at once. The ' +
    'run reports problems with the model or the credits. A run that needs a tool with external effects which was ' +
    'not approved in advance waits for the user with `approvals: true`; else it fails and names the tool.',
  rate: { key: 'standard', user: 'standard' },
  subject: 'Session',
  input: { body },
  output: { 202: { description: 'Accepted.', schema: started } },
  refusals: [
    {
      status: 400,
      description: 'The model is unknown, disabled or no chat model, or no default model is set.',
    },
    {
      status: 403,
      description: 'The request names an agent, and the administrator has switched agents off.',
    },
    { status: 404, description: 'The session, agent, organization or a file is unknown to the caller.' },
    { status: 409, description: 'The user has the maximum number of active runs.' },
    { status: 503, description: 'The service is about to restart; retry after `Retry-After`.' },
  ],
  idempotent: true,
});

export const getAgentExecution = defineOperation({
  ...common,
  id: 'getAgentExecution',
  method: 'GET',
  path: '/api/v1/agent-executions/{id}',
  summary: 'Get the status of an agent run',
  description: 'Poll with a backoff of a few seconds until `status` is `completed`, `failed` or `aborted`.',
  rate: { key: 'day-exempt', user: 'standard' },
  subject: 'Agent execution',
  input: { params: idParams },
  output: { 200: { description: 'The current state of the run.', schema: execution } },
});

export const cancelAgentExecution = defineOperation({
  ...common,
  id: 'cancelAgentExecution',
  method: 'POST',
  path: '/api/v1/agent-executions/{id}/cancel',
  summary: 'Cancel an agent run',
  description: 'A run that has ended is returned unchanged. The work done so far is charged.',
  rate: { key: 'standard', user: 'standard' },
  subject: 'Agent execution',
  input: { params: idParams },
  output: { 200: { description: 'The current state of the run.', schema: execution } },
});

export const getAgentExecutionEvents = defineOperation({
  ...common,
  id: 'getAgentExecutionEvents',
  method: 'GET',
  path: '/api/v1/agent-executions/{id}/events',
  summary: 'Follow an agent run',
  description: LIVE_EVENTS_DESCRIPTION,
  rate: { key: 'day-exempt', user: 'standard' },
  subject: 'Agent execution',
  input: { params: idParams, query: eventsQuery },
  output: liveEventsOutput(execution),
});
