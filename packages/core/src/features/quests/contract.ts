import * as z from 'zod';
import { idParams } from '../../contract/identifiers.ts';
import { eventsQuery, LIVE_EVENTS_DESCRIPTION, liveEventsOutput } from '../../contract/live-events.ts';
import { defineOperation } from '../../contract/operation.ts';
import { promptDetail } from '../../prompts/contract.ts';
import { CREDIT_CODES } from '../../shared/errors.ts';

export const questStatus = z.enum(['pending', 'stopped', 'running', 'waiting', 'done']);

export const pendingApproval = z
  .object({
    callId: z.string().describe('The id of the call: `id` in the live events.'),
    tool: z.string().describe('The id of the tool.'),
    kind: z
      .enum(['approval', 'answer'])
      .describe(
        '`approval`: approve, edit or reject the call. `answer`: run the tool and give its result, or reject.',
      ),
    input: z.unknown().describe('The input that the model wants to send.'),
    decision: z
      .enum(['approve', 'reject', 'edit', 'answer'])
      .optional()
      .describe('The decision, once it is taken. The quest goes on when all calls have one.'),
  })
  .meta({ description: 'A tool call that waits for a decision of the user.' });

export const questType = z.enum(['message', 'oob', 'error', 'system', 'voice_transcript']);
export const questErrorCode = z.enum(CREDIT_CODES);

export const providerError = z
  .object({
    status: z.number().int().optional().describe("The HTTP status of the provider's answer."),
    code: z.string().optional().describe("The provider's own error code, or `circuit_open`."),
    param: z.string().optional().describe('The request parameter that the provider rejected.'),
    retryAfter: z.number().int().optional().describe('Seconds to wait before a retry.'),
  })
  .meta({
    description:
      "Details of a failure of the model's provider: its HTTP status, its error code and the parameter it names; never its " +
      'message. `retryAfter` is in seconds. The code `circuit_open`: the provider failed recently and was not called.',
  });

export const toolPayload = z.object({
  type: z.string().describe('The kind of the payload.'),
  payload: z
    .unknown()
    .optional()
    .describe('The data that the tool returned for the user interface; its shape depends on the kind.'),
});

export const stopReason = z
  .enum(['stop', 'max_tokens', 'tool_use', 'content_filter', 'other'])
  .meta({ description: 'Why the model stopped. `max_tokens`: its output cap cut the answer.' });

const fallbackInfo = z
  .object({
    primaryModel: z.string().describe('The id of the requested model.'),
    primaryModelName: z.string().describe('The name of the requested model, for people.'),
    fallbackModel: z.string().describe('The id of the model that answered.'),
    fallbackModelName: z.string().describe('The name of the model that answered, for people.'),
    reason: z.string().describe('Why the requested model did not answer.'),
  })
  .meta({ description: 'Present only when the requested model failed and another one answered.' });

export const quest = z.object({
  id: z.string().describe('The id of the quest.'),
  sessionId: z.string().describe('The id of the session of the turn.'),
  status: questStatus.describe(
    'The state of the quest: poll until it is `done` or `stopped`. `waiting`, only with `approvals: true`: decide about `pendingApprovals`.',
  ),
  type: questType.meta({ description: 'Check this first: `done` with `error` is a failure.' }),
  errorCode: questErrorCode
    .optional()
    .describe('The code of the failure, for failures that clients branch on.'),
  stopReason: stopReason
    .optional()
    .describe('Why the model stopped. `max_tokens`: its output cap cut the answer.'),
  providerError: providerError
    .optional()
    .describe('The failure of the model provider, when it caused the end.'),
  reply: z
    .string()
    .nullable()
    .meta({ description: 'The answer; the failure when `type` is `error`; the reason when `stopped`.' }),
  replies: z.array(z.string()).describe('All texts of the answer, in order.'),
  images: z.array(z.string()).describe('The URLs of the images of the answer.'),
  videos: z.array(z.string()).describe('The URLs of the videos of the answer.'),
  files: z
    .array(
      z.object({
        name: z.string().describe('The file name.'),
        url: z.string().describe('The URL of the file; it expires.'),
        isImage: z.boolean().describe('Whether the file is an image.'),
        isAudio: z.boolean().describe('Whether the file is audio.'),
        isVideo: z.boolean().describe('Whether the file is a video.'),
      }),
    )
    .describe('The files of the answer.'),
  toolPayloads: z.array(toolPayload).describe('The data that tools returned for the user interface.'),
  pendingApprovals: z
    .array(pendingApproval)
    .optional()
    .describe(
      'While the quest waits, for the user who asked with `approvals: true`: the calls to decide about.',
    ),
  fallbackInfo: fallbackInfo
    .optional()
    .describe('The models, when another one than the requested one answered.'),
  promptMeta: z
    .object({
      model: z.string().describe('The id of the model that answered.'),
      usage: z.record(z.string(), z.number()).optional().describe('The billed tokens, by kind.'),
      credits: z.number().optional().describe('The charged credits.'),
    })
    .optional()
    .describe('The model and the cost of the turn. Present on every quest that was charged.'),
  promptDetails: z.array(promptDetail).optional().meta({
    description: 'For the user who requested it with `includePromptDetails`.',
  }),
  promptText: z.string().optional().meta({
    description:
      'For the user who requested it with `includeSystemPrompt`. Parts that belong to others are only named.',
  }),
  attachmentNotices: z
    .array(z.string())
    .optional()
    .describe('Notes about attachments that could not be used, for people.'),
  attachmentDelivery: z
    .object({
      requested: z.number().int().describe('The number of attachments of the request.'),
      delivered: z.number().int().describe('The number of attachments that reached the model.'),
      fullyDelivered: z.boolean().describe('Whether all attachments reached the model.'),
      dropped: z.number().int().describe('The number of attachments that did not.'),
      droppedIds: z.array(z.string()).describe('The ids of the files that did not reach the model.'),
    })
    .optional()
    .describe('How many attachments reached the model.'),
  createdAt: z.iso.datetime().describe('The time of the request.'),
  updatedAt: z.iso.datetime().describe('The time of the last change.'),
});

export type WireQuest = z.input<typeof quest>;

export const getQuest = defineOperation({
  id: 'getQuest',
  method: 'GET',
  path: '/api/v1/quests/{id}',
  tag: 'AI',
  summary: 'Get quest status',
  description:
    'Poll with a backoff of a few seconds until `status` is `done` or `stopped`. Check `type` before reading results.',
  auth: 'key-or-token',
  scopes: ['notebooks:read', 'ai:chat', 'ai:generate'],
  rate: { key: 'day-exempt', user: 'standard' },
  owner: 'caller-or-shared',
  family: 'public',
  subject: 'Quest',
  input: { params: idParams },
  output: { 200: { description: 'The current state of the quest.', schema: quest } },
});

export const cancelQuest = defineOperation({
  id: 'cancelQuest',
  method: 'POST',
  path: '/api/v1/quests/{id}/cancel',
  tag: 'AI',
  summary: 'Cancel a quest',
  description: 'A quest that has ended is returned unchanged. The work done so far is charged.',
  auth: 'key-or-token',
  scopes: ['ai:chat', 'ai:generate'],
  rate: { key: 'standard', user: 'standard' },
  owner: 'caller-or-shared',
  family: 'public',
  subject: 'Quest',
  input: { params: idParams },
  output: { 200: { description: 'The current state of the quest.', schema: quest } },
});

export const getQuestEvents = defineOperation({
  id: 'getQuestEvents',
  method: 'GET',
  path: '/api/v1/quests/{id}/events',
  tag: 'AI',
  summary: 'Follow a quest',
  description: LIVE_EVENTS_DESCRIPTION,
  auth: 'key-or-token',
  scopes: ['notebooks:read', 'ai:chat', 'ai:generate'],
  rate: { key: 'day-exempt', user: 'standard' },
  owner: 'caller-or-shared',
  family: 'public',
  subject: 'Quest',
  input: { params: idParams, query: eventsQuery },
  output: liveEventsOutput(quest),
});
