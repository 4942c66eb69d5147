import * as z from 'zod';
import { idParams } from '../http/identifiers.ts';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';

const ids = z.array(z.string()).optional();

const body = z.strictObject({
  session_id: text({ min: 1 }).meta({ description: 'The session the run belongs to.' }),
  message: text({ min: 1 }).meta({ description: 'What is to be done.' }),
  model: z
    .string()
    .optional()
    .meta({ description: "Default: the agent's preferred model, else the setting `DefaultAPIModel`." }),
  agent_id: z.string().optional(),
  organization_id: z.string().optional().meta({ description: 'The organization that pays.' }),
  tools: z
    .array(z.string())
    .optional()
    .meta({ description: 'Ids of tools that are approved in advance. Unknown ones are left out.' }),
  max_iterations: z
    .int()
    .min(1)
    .max(100)
    .default(20)
    .meta({ description: 'Rounds of the model. In the last one it has to answer.' }),
  temperature: z.number().min(0).max(2).optional(),
  max_tokens: z
    .int()
    .gt(0)
    .optional()
    .meta({ description: 'Output tokens of one round, at most those of the model. Default 4096.' }),
  thinking: z
    .strictObject({ enabled: z.boolean(), budget_tokens: z.int().gt(0).max(32_000).optional() })
    .optional()
    .meta({ description: 'Without effect on models that cannot think.' }),
  file_ids: ids,
  session_file_ids: ids,
  enable_mementos: z.boolean().optional(),
  enable_lattice: z
    .boolean()
    .optional()
    .meta({ description: 'Offers `create_lattice`, which keeps tables, while artifacts are switched on.' }),
  enable_artifacts: z
    .boolean()
    .optional()
    .meta({ description: 'Offers `create_artifact`, while artifacts are switched on.' }),
});

const started = z.object({
  id: z.string(),
  status: z.literal('pending'),
  session_id: z.string(),
  model: z.string(),
  timestamp: z.iso.datetime(),
  tracking_info: z.object({
    execution_id: z.string(),
    poll_url: z.string(),
    quest_id: z.string().optional(),
  }),
});

const execution = z.object({
  id: z.string(),
  status: z.enum(['pending', 'running', 'completed', 'failed', 'aborted']),
  session_id: z.string().nullable(),
  answer: z.string().nullable(),
  error: z.string().nullable().meta({ description: 'Why it failed or was aborted.' }),
  steps: z.array(
    z.object({
      type: z.enum(['thought', 'action', 'observation', 'final_answer']),
      content: z.string(),
      iteration: z.int().optional(),
      tool_name: z.string().optional(),
    }),
  ),
  total_iterations: z.int().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
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
  method: 'POST',
  path: '/api/v1/agent-executions',
  summary: 'Have a task done in steps',
  description:
    'A model thinks, uses tools and looks at what came out, round by round, until it answers. Acknowledges at once. What ' +
    'goes wrong with the model or the credits is told by the run. A run that needs a tool with effects outside which was ' +
    'not approved in advance fails, and names it.',
  rate: { key: 'standard', user: 'unlimited' },
  subject: 'Session',
  input: { body },
  output: { 202: { description: 'Accepted.', schema: started } },
  refusals: [
    { status: 400, description: 'The model is unknown, disabled or no chat model, or there is no default.' },
    { status: 403, description: 'It names an agent, and the administrator has switched agents off.' },
    { status: 404, description: 'The session, agent, organization or a file is unknown to the caller.' },
    { status: 409, description: 'As many runs of this user are under way as there may be.' },
    { status: 503, description: 'The service is about to restart; `Retry-After` says when to come back.' },
  ],
  idempotent: true,
});

export const getAgentExecution = defineOperation({
  ...common,
  id: 'getAgentExecution',
  method: 'GET',
  path: '/api/v1/agent-executions/{id}',
  summary: 'Look how far a run is',
  description: 'Poll with a backoff of a few seconds until `status` is `completed`, `failed` or `aborted`.',
  rate: { key: 'day-exempt', user: 'unlimited' },
  subject: 'Agent execution',
  input: { params: idParams },
  output: { 200: { description: 'The run as it is now.', schema: execution } },
});

export const cancelAgentExecution = defineOperation({
  ...common,
  id: 'cancelAgentExecution',
  method: 'POST',
  path: '/api/v1/agent-executions/{id}/cancel',
  summary: 'Abort a run',
  description: 'A run that has ended comes back unchanged. What was made so far is charged.',
  rate: { key: 'standard', user: 'unlimited' },
  subject: 'Agent execution',
  input: { params: idParams },
  output: { 200: { description: 'The run as it is now.', schema: execution } },
});
