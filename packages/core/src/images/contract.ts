import * as z from 'zod';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';
import { questStatus } from '../quests/contract.ts';

const side = z.number().int().min(1).max(65_535).nullish();

const generation = z.object({
  prompt: text({ min: 1 }),
  model: z.string(),
  n: z.number().int().min(1).max(10).nullish().meta({ description: 'Images wanted. Default 1.' }),
  quality: z.enum(['standard', 'hd', 'low', 'medium', 'high', 'xhigh', 'max', 'auto']).nullish(),
  size: z
    .string()
    .regex(/^(?:auto|[1-9]\d{0,4}x[1-9]\d{0,4})$/, 'expected auto, or pixels as in 1024x768')
    .nullish(),
  style: z.enum(['vivid', 'natural']).nullish(),
  background: z.enum(['transparent', 'opaque', 'auto']).nullish(),
  width: side.meta({ description: 'Pixels; counts together with `height` when there is no `size`.' }),
  height: side,
  aspect_ratio: z
    .string()
    .regex(/^[1-9]\d?:[1-9]\d?$/, 'expected a ratio as in 16:9')
    .nullish(),
  seed: z
    .number()
    .int()
    .min(-(2 ** 31))
    .max(2 ** 32)
    .nullish(),
  output_format: z.enum(['png', 'jpeg', 'webp']).nullish(),
  safety_tolerance: z
    .number()
    .int()
    .min(0)
    .max(6)
    .nullish()
    .meta({ description: '0 is the strictest. Default 2.' }),
  sessionId: z.string().nullish().meta({ description: 'Where the image belongs. Default: as in chat.' }),
  organizationId: z.string().nullish().meta({ description: 'The organization that pays.' }),
  projectId: z.string().nullish().meta({ description: "The caller's project that the images are put into." }),
  fileIds: z.array(z.string()).max(100).nullish().meta({ description: 'Images to be guided by.' }),
  referenceImageFileIds: z.array(z.string()).max(15).nullish(),
});

const edit = generation.extend({
  sessionId: z.string(),
  image: z.string().min(1).max(2048).meta({ description: 'What to change: a file id, or an https address.' }),
  fileIds: z
    .array(z.string())
    .max(100)
    .nullish()
    .meta({ description: 'The first one is the mask: its transparent pixels say where to change.' }),
});

const acknowledgement = z.object({
  id: z.string().meta({ description: 'The quest to poll.' }),
  sessionId: z.string(),
  status: z.literal('queued'),
  tracking_info: z.object({ quest_id: z.string(), check_status_url: z.string(), poll_url: z.string() }),
  quest: z.object({ id: z.string(), sessionId: z.string(), status: questStatus }),
  session: z.object({ id: z.string() }),
  originalPrompt: z.string(),
  enhancedPrompt: z.string().meta({ description: 'The prompt the model is given.' }),
  promptWasEnhanced: z
    .boolean()
    .meta({ description: 'Always false so far: prompts reach the model as they are.' }),
  intent: z
    .enum(['fresh', 'continuation'])
    .meta({ description: 'Whether the image builds on others: those of the request or the session.' }),
});

export type GenerationBody = z.output<typeof generation>;
export type EditBody = z.output<typeof edit>;
export type ImageAcknowledgement = z.input<typeof acknowledgement>;

const common = {
  method: 'POST',
  tag: 'Images',
  auth: 'key-or-token',
  scopes: ['ai:generate'],
  rate: { key: 'standard', user: 'unlimited' },
  owner: 'caller-or-shared',
  family: 'public',
  subject: 'Session',
  idempotent: true,
  pollResult: 'getQuestResponse200',
} as const;

const accepted = { 200: { description: 'The quest that draws.', schema: acknowledgement } };

const notThere = { status: 404, description: 'The session or the organization is unknown to the caller.' };
const stopping = { status: 503, description: 'The server is about to stop and takes no more work.' };

const afterwards =
  'What goes wrong later is told by the quest: `type: error`, the reason in `reply`. Names are in `images`, addresses ' +
  'in `files[].url`; they are signed anew at each poll, for 15 minutes.';

export const generateImage = defineOperation({
  ...common,
  id: 'generateImage',
  path: '/api/v1/image-generations',
  summary: 'Draw images',
  description: `Acknowledges at once; poll the quest. ${afterwards}`,
  input: { body: generation },
  output: accepted,
  refusals: [notThere, stopping],
});

export const editImage = defineOperation({
  ...common,
  id: 'editImage',
  path: '/api/v1/image-edits',
  summary: 'Change an image',
  description: `Acknowledges at once; poll the quest. ${afterwards}`,
  input: { body: edit },
  output: accepted,
  refusals: [{ status: 400, description: '`fileIds` was sent, and is empty.' }, notThere, stopping],
});

export const generateImageSimply = defineOperation({
  id: 'generateImageSimply',
  method: 'POST',
  path: '/api/ai/generate-image',
  summary: 'Draw an image with the workspace’s own model',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application-ai' },
  owner: 'caller',
  family: 'application',
  input: { body: generation.pick({ prompt: true, style: true, size: true }) },
  output: {
    200: {
      description: 'The quest that draws.',
      schema: z.object({
        questId: z.string(),
        status: z.literal('queued'),
        estimatedTime: z.number().meta({ description: 'Seconds.' }),
      }),
    },
  },
  refusals: [stopping],
});
