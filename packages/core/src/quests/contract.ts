import * as z from 'zod';
import { idParams } from '../http/identifiers.ts';
import { defineOperation } from '../operation.ts';

export const questStatus = z.enum(['pending', 'stopped', 'running', 'done']);
export const questType = z.enum(['message', 'oob', 'error', 'system', 'voice_transcript']);
export const questErrorCode = z.enum(['insufficient_credits', 'spend_cap_exceeded']);

export const toolPayload = z.object({ type: z.string(), payload: z.unknown().optional() });

const fallbackInfo = z
  .object({
    primaryModel: z.string(),
    primaryModelName: z.string(),
    fallbackModel: z.string(),
    fallbackModelName: z.string(),
    reason: z.string(),
  })
  .meta({ description: 'Only when the requested model failed and another one answered.' });

const quest = z.object({
  id: z.string(),
  sessionId: z.string(),
  status: questStatus,
  type: questType.meta({ description: 'Look here first: `done` with `error` is a failure.' }),
  errorCode: questErrorCode.optional(),
  reply: z
    .string()
    .nullable()
    .meta({ description: 'The answer; the failure when `type` is `error`; the reason when `stopped`.' }),
  replies: z.array(z.string()),
  images: z.array(z.string()),
  videos: z.array(z.string()),
  files: z.array(
    z.object({
      name: z.string(),
      url: z.string(),
      isImage: z.boolean(),
      isAudio: z.boolean(),
      isVideo: z.boolean(),
    }),
  ),
  toolPayloads: z.array(toolPayload),
  fallbackInfo: fallbackInfo.optional(),
  promptMeta: z
    .object({
      model: z.string(),
      usage: z.record(z.string(), z.number()).optional(),
      credits: z.number().optional(),
    })
    .optional(),
  attachmentNotices: z.array(z.string()).optional(),
  attachmentDelivery: z
    .object({
      requested: z.number().int(),
      delivered: z.number().int(),
      fullyDelivered: z.boolean(),
      dropped: z.number().int(),
      droppedIds: z.array(z.string()),
    })
    .optional(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

export type WireQuest = z.input<typeof quest>;

export const getQuest = defineOperation({
  id: 'getQuest',
  method: 'GET',
  path: '/api/v1/quests/{id}',
  tag: 'AI',
  summary: 'Look how far a quest is',
  description:
    'Poll with a backoff of a few seconds until `status` is `done` or `stopped`. Look at `type` before reading results.',
  auth: 'key-or-token',
  scopes: ['notebooks:read', 'ai:chat', 'ai:generate'],
  rate: { key: 'day-exempt', user: 'unlimited' },
  owner: 'caller-or-shared',
  family: 'public',
  subject: 'Quest',
  input: { params: idParams },
  output: { 200: { description: 'The quest as it is now.', schema: quest } },
});

export const cancelQuest = defineOperation({
  id: 'cancelQuest',
  method: 'POST',
  path: '/api/v1/quests/{id}/cancel',
  tag: 'AI',
  summary: 'Stop a quest',
  description: 'A quest that has ended comes back unchanged. What was made so far is charged.',
  auth: 'key-or-token',
  scopes: ['ai:chat', 'ai:generate'],
  rate: { key: 'standard', user: 'unlimited' },
  owner: 'caller-or-shared',
  family: 'public',
  subject: 'Quest',
  input: { params: idParams },
  output: { 200: { description: 'The quest as it is now.', schema: quest } },
});
