import * as z from 'zod';
import { idParams } from '../../contract/identifiers.ts';
import { jsonObject, list } from '../../contract/lists.ts';
import { defineOperation } from '../../contract/operation.ts';
import { text } from '../../contract/text.ts';
import { cancelQuest, quest } from './contract.ts';

const MAX_DECISIONS = 50;
/** Maximum length of a reason, in characters. */
const MAX_REASON = 2000;
/** Maximum fields of an input. */
const MAX_FIELDS = 1000;

const callId = text({ min: 1, max: 100 }).describe('The `callId` of a call in `pendingApprovals`.');

const decision = z.discriminatedUnion('decision', [
  z.strictObject({
    callId,
    decision: z.literal('approve').describe('Runs the call.'),
  }),
  z.strictObject({
    callId,
    decision: z.literal('reject').describe('Does not run the call. The model learns that.'),
    reason: text({ max: MAX_REASON }).optional().describe('The reason, for the model.'),
  }),
  z.strictObject({
    callId,
    decision: z.literal('edit').describe('Runs the call with another input.'),
    input: jsonObject(MAX_FIELDS).describe('The input, in the schema of the tool.'),
  }),
  z.strictObject({
    callId,
    decision: z.literal('answer').describe('Gives the result of a tool of the client.'),
    output: z.unknown().optional().describe('The result, for the model: a text, or any JSON.'),
    isError: z.boolean().default(false).describe('Whether the call failed.'),
  }),
]);

export type DecisionBody = z.output<typeof decision>;

export const decideQuestCalls = defineOperation({
  id: 'decideQuestCalls',
  paid: true,
  method: 'POST',
  path: '/api/v1/quests/{id}/decisions',
  tag: 'AI',
  summary: 'Decide about the waiting tool calls of a quest',
  description:
    'For quests of callers that sent `approvals: true`. Takes all decisions or none. When all calls of ' +
    '`pendingApprovals` are decided, the quest goes on. The same decision again changes nothing. Only the user who sent ' +
    'the message decides.',
  auth: 'key-or-token',
  scopes: cancelQuest.scopes,
  rate: cancelQuest.rate,
  owner: 'caller-or-shared',
  family: 'public',
  subject: 'Quest',
  input: {
    params: idParams,
    body: z.strictObject({
      decisions: list(decision, { min: 1, max: MAX_DECISIONS }).describe('One decision per call.'),
    }),
  },
  output: { 200: { description: 'The current state of the quest.', schema: quest } },
  refusals: [
    { status: 400, description: 'No call of the quest waits under the id.' },
    { status: 409, description: 'The quest has ended, or the call is decided otherwise.' },
  ],
});
