import * as z from 'zod';
import { distinctStrings } from '../../contract/lists.ts';
import { defineOperation } from '../../contract/operation.ts';
import { text } from '../../contract/text.ts';
import { questStatus } from '../quests/contract.ts';

const side = z.number().int().min(1).max(65_535).nullish();

const generation = z.object({
  prompt: text({ min: 1 }).describe('What the image shows, or what to change.'),
  model: z.string().describe('The id of an image model.'),
  n: z.number().int().min(1).max(10).nullish().meta({ description: 'Number of images. Default 1.' }),
  quality: z
    .enum(['standard', 'hd', 'low', 'medium', 'high', 'xhigh', 'max', 'auto'])
    .nullish()
    .describe('The quality. Which values have an effect depends on the model.'),
  size: z
    .string()
    .regex(/^(?:auto|[1-9]\d{0,4}x[1-9]\d{0,4})$/, 'expected auto, or pixels as in 1024x768')
    .nullish()
    .describe('The size in pixels, such as `1024x768`, or `auto`.'),
  style: z.enum(['vivid', 'natural']).nullish().describe('The style, for models that have the choice.'),
  background: z
    .enum(['transparent', 'opaque', 'auto'])
    .nullish()
    .describe('The background, for models that have the choice.'),
  width: side.meta({ description: 'Pixels; applies together with `height` when `size` is absent.' }),
  height: side.describe('The height in pixels, together with `width`.'),
  aspect_ratio: z
    .string()
    .regex(/^[1-9]\d?:[1-9]\d?$/, 'expected a ratio as in 16:9')
    .nullish()
    .describe('The aspect ratio, such as `16:9`.'),
  seed: z
    .number()
    .int()
    .min(-(2 ** 31))
    .max(2 ** 32)
    .nullish()
    .describe('A number that makes the result repeatable, for models that have the choice.'),
  output_format: z
    .enum(['png', 'jpeg', 'webp'])
    .nullish()
    .describe('The file format of the image. Default: that of the model.'),
  safety_tolerance: z
    .number()
    .int()
    .min(0)
    .max(6)
    .nullish()
    .meta({ description: '0 is the strictest. Default 2.' }),
  sessionId: z.string().nullish().meta({ description: 'The session of the image. Default: as in chat.' }),
  organizationId: z.string().nullish().meta({ description: 'The organization that pays.' }),
  projectId: z.string().nullish().meta({ description: "The caller's project that receives the images." }),
  fileIds: distinctStrings(100).nullish().meta({ description: 'Reference images.' }),
  referenceImageFileIds: distinctStrings(15)
    .nullish()
    .describe('The ids of image files that the model may look at.'),
});

const edit = generation.extend({
  sessionId: z.string().describe('The id of the session whose image is edited.'),
  image: z.string().min(1).max(2048).meta({ description: 'The image to edit: a file id, or an https URL.' }),
  fileIds: distinctStrings(100)
    .nullish()
    .meta({ description: 'The first one is the mask: its transparent pixels mark the area to edit.' }),
});

const acknowledgement = z.object({
  id: z.string().meta({ description: 'Id of the quest to poll.' }),
  sessionId: z.string().describe('The id of the session that gets the result.'),
  status: z.literal('queued').describe('The work is accepted.'),
  tracking_info: z
    .object({
      quest_id: z.string().describe('The id of the quest to poll.'),
      check_status_url: z.string().describe('The path of the quest. The same as `poll_url`.'),
      poll_url: z.string().describe('The path of the quest to poll.'),
    })
    .describe('Where to ask for the result.'),
  quest: z
    .object({
      id: z.string().describe('The id of the quest.'),
      sessionId: z.string().describe('The id of the session that gets the result.'),
      status: questStatus.describe('The state of the quest.'),
    })
    .describe('The quest to poll.'),
  session: z
    .object({ id: z.string().describe('The id of the session.') })
    .describe('The session that gets the result.'),
  originalPrompt: z.string().describe('The prompt of the request.'),
  enhancedPrompt: z.string().meta({ description: 'The prompt for the model.' }),
  promptWasEnhanced: z.boolean().meta({ description: 'Always false: prompts reach the model unchanged.' }),
  intent: z
    .enum(['fresh', 'continuation'])
    .meta({ description: 'Whether the image builds on other images of the request or the session.' }),
});

export type GenerationBody = z.output<typeof generation>;
export type EditBody = z.output<typeof edit>;
export type ImageAcknowledgement = z.input<typeof acknowledgement>;

const common = {
  method: 'POST',
  tag: 'Images',
  auth: 'key-or-token',
  scopes: ['ai:generate'],
  rate: { key: 'standard', user: 'standard' },
  owner: 'caller-or-shared',
  family: 'public',
  subject: 'Session',
  idempotent: true,
  pollResult: 'getQuestResponse200',
} as const;

const accepted = { 200: { description: 'The quest that generates the images.', schema: acknowledgement } };

const notThere = { status: 404, description: 'The session or the organization is unknown to the caller.' };
const stopping = { status: 503, description: 'The server is shutting down and accepts no new work.' };

const afterwards =
  'The quest reports later problems: `type: error`, the reason in `reply`. Names are in `images`, URLs ' +
  'in `files[].url`; each poll signs them anew, for 15 minutes.';

export const generateImage = defineOperation({
  ...common,
  id: 'generateImage',
  paid: true,
  path: '/api/v1/image-generations',
  summary: 'Generate images',
  description: `Acknowledges at once; poll the quest. ${afterwards}`,
  input: { body: generation },
  output: accepted,
  refusals: [notThere, stopping],
});

export const editImage = defineOperation({
  ...common,
  id: 'editImage',
  paid: true,
  path: '/api/v1/image-edits',
  summary: 'Edit an image',
  description: `Acknowledges at once; poll the quest. ${afterwards}`,
  input: { body: edit },
  output: accepted,
  refusals: [{ status: 400, description: '`fileIds` is an empty list.' }, notThere, stopping],
});

export const generateImageSimply = defineOperation({
  id: 'generateImageSimply',
  paid: true,
  method: 'POST',
  path: '/api/ai/generate-image',
  summary: 'Generate an image with the workspace’s default model',
  description:
    'Takes only a prompt and starts a quest in the latest session of the user, or in a new one for a user without any. Poll the quest for the image.',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application-ai' },
  owner: 'caller',
  family: 'application',
  tag: 'Models',
  input: { body: generation.pick({ prompt: true, style: true, size: true }) },
  output: {
    200: {
      description: 'The quest that generates the image.',
      schema: z.object({
        questId: z.string().describe('The id of the quest to poll with `getQuest`.'),
        status: z.literal('queued').describe('The work is accepted.'),
        estimatedTime: z.number().meta({ description: 'Seconds.' }),
      }),
    },
  },
  refusals: [stopping],
});
