import * as z from 'zod';
import { cursorPage, pageQuery } from '../../contract/cursor.ts';
import { idParams } from '../../contract/identifiers.ts';
import { eventsQuery, STATES_DESCRIPTION, statesOutput } from '../../contract/live-events.ts';
import { defineOperation } from '../../contract/operation.ts';
import { text } from '../../contract/text.ts';

const ASPECT_RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9'] as const;
const RESOLUTIONS = ['360p', '480p', '720p', '1080p', '4k'] as const;
const FORMATS = ['mp3', 'wav', 'opus', 'aac', 'flac', 'pcm'] as const;
const MODES = ['text_to_video', 'image_to_video'] as const;
const CHOICE = ['always', 'optional', 'none'] as const;

const state = z.enum(['pending', 'running', 'storing', 'succeeded', 'failed', 'blocked', 'cancelled']);
const source = z.enum(['api', 'studio', 'agent']);

const seconds = z.number().gt(0);

/** Fields of video and music models. */
const ofModel = {
  id: z.string().describe('The id to pass as `model`.'),
  display_name: z.string().describe('The name of the model, for people.'),
  provider: z.string().describe('The provider that serves it.'),
  duration: z
    .discriminatedUnion('kind', [
      z.object({
        kind: z
          .literal('range')
          .describe('How durations are given: any value of a range, or one of some values.'),
        min: z.number().describe('The shortest duration.'),
        max: z.number().describe('The longest duration.'),
        step: z.number().describe('The distance between possible durations.'),
      }),
      z.object({
        kind: z
          .literal('discrete')
          .describe('How durations are given: any value of a range, or one of some values.'),
        values: z.array(z.number()).describe('The possible durations.'),
      }),
    ])
    .meta({ description: 'Seconds.' }),
  deprecation_date: z.string().nullable().describe('The day of retirement; null without an announced one.'),
};

const videoModel = z.object({
  ...ofModel,
  object: z.literal('video_model').describe('The kind of the object.'),
  modes: z.array(z.enum(MODES)).describe('What a video can be made from.'),
  aspect_ratios: z.array(z.enum(ASPECT_RATIOS)).describe('The possible aspect ratios.'),
  resolutions: z.array(z.enum(RESOLUTIONS)).describe('The possible resolutions.'),
  defaults: z
    .object({
      duration_seconds: z.number().describe('The default duration, in seconds.'),
      aspect_ratio: z.enum(ASPECT_RATIOS).describe('The default aspect ratio.'),
      resolution: z.enum(RESOLUTIONS).describe('The default resolution.'),
    })
    .describe('The values of a request that names none.'),
  audio: z.enum(CHOICE).describe('Whether videos have sound: always, on request, or not.'),
  credits_per_second: z
    .partialRecord(z.enum(RESOLUTIONS), z.number().describe('Credits per second.'))
    .nullable()
    .meta({ description: 'By resolution. Null if the model is not billed by the second.' }),
});

const musicModel = z.object({
  ...ofModel,
  object: z.literal('music_model').describe('The kind of the object.'),
  formats: z.array(z.enum(FORMATS)).describe('The possible audio formats.'),
  instrumental: z.enum(CHOICE).describe('Whether music is without vocals: always, on request, or not.'),
  defaults: z
    .object({
      duration_seconds: z.number().describe('The default duration, in seconds.'),
      format: z.enum(FORMATS).describe('The default audio format.'),
    })
    .describe('The values of a request that names none.'),
  credits_per_second: z
    .number()
    .nullable()
    .meta({ description: 'Null if the model is not billed by the second.' }),
});

/** Fields of video and music jobs. */
const ofJob = {
  id: z.string().describe('The id of the job.'),
  state: state.describe('The state of the job. `succeeded`, `failed`, `blocked` and `cancelled` are final.'),
  model: z.string().describe('The id of the model.'),
  prompt: z.string().describe('The description of the result.'),
  duration_seconds: z.number().describe('The duration of the result, in seconds.'),
  source: source.describe('Where the job was started.'),
  progress: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .meta({ description: 'The progress that the provider reports.' }),
  error: z
    .object({
      code: z.string().describe('A stable code to branch on.'),
      message: z.string().describe('The problem, for people.'),
    })
    .nullable()
    .describe('The problem of a job that failed; null without a failure.'),
  output: z
    .object({
      availability: z.enum(['ready', 'pending_scan', 'unavailable']).meta({
        description: '`pending_scan`: in moderation. `unavailable`: blocked, or the file is deleted.',
      }),
      url: z
        .string()
        .nullable()
        .meta({ description: 'Null until ready. Valid for 15 minutes; signed anew for each response.' }),
      expires_at: z.iso
        .datetime()
        .nullable()
        .describe('The time at which the URL expires; null without a URL.'),
      content_type: z.string().describe('The media type of the result.'),
      duration_seconds: z.number().describe('The duration of the result, in seconds.'),
      file_id: z.string().nullable().meta({ description: "The owner's file." }),
    })
    .nullable()
    .describe('The result; null before the job has one.'),
  credits: z
    .object({
      reserved: z.number().nullable().meta({ description: 'Held until the end.' }),
      settled: z.number().nullable().meta({ description: 'Charged at the end.' }),
    })
    .describe('The cost of the job, in credits.'),
  created_at: z.iso.datetime().describe('The time of the request.'),
  updated_at: z.iso.datetime().describe('The time of the last change.'),
};

const videoJob = z.object({
  ...ofJob,
  object: z.literal('video_generation').describe('The kind of the object.'),
  mode: z.enum(MODES).describe('What the video is made from.'),
  aspect_ratio: z.enum(ASPECT_RATIOS).describe('The aspect ratio of the video.'),
  resolution: z.enum(RESOLUTIONS).describe('The resolution of the video.'),
});

const musicJob = z.object({
  ...ofJob,
  object: z.literal('music_generation').describe('The kind of the object.'),
  instrumental: z.boolean().describe('Whether the music is without vocals.'),
  format: z.enum(FORMATS).describe('The audio format.'),
});

const videoBody = z.strictObject({
  model: z.string().describe('The id of a model from `listVideoModels`.'),
  prompt: text({ min: 1, max: 4000 }).describe('What the video shows.'),
  mode: z
    .enum(MODES)
    .optional()
    .meta({ description: 'Default: depends on whether an input image is given.' }),
  duration_seconds: seconds.optional().describe('The duration, in seconds. Default: that of the model.'),
  aspect_ratio: z.enum(ASPECT_RATIOS).optional().describe('The aspect ratio. Default: that of the model.'),
  resolution: z.enum(RESOLUTIONS).optional().describe('The resolution. Default: that of the model.'),
  input_image_file_id: z.string().optional().meta({ description: 'The first frame: a clean image file.' }),
  audio: z.boolean().optional().describe('Whether the video has sound, where the model offers the choice.'),
});

const musicBody = z.strictObject({
  model: z.string().describe('The id of a model from `listMusicModels`.'),
  prompt: text({ min: 1, max: 2000 }).describe('How the music sounds.'),
  duration_seconds: seconds.optional().describe('The duration, in seconds. Default: that of the model.'),
  instrumental: z
    .boolean()
    .optional()
    .describe('Whether the music is without vocals, where the model offers the choice.'),
  format: z.enum(FORMATS).optional().describe('The audio format. Default: that of the model.'),
});

/** The response fields of every job, of any kind. */
export type CommonJob = z.input<z.ZodObject<typeof ofJob>>;
export type WireVideoModel = z.input<typeof videoModel>;
export type WireMusicModel = z.input<typeof musicModel>;
export type WireVideoJob = z.input<typeof videoJob>;
export type WireMusicJob = z.input<typeof musicJob>;
export type VideoBody = z.output<typeof videoBody>;
export type MusicBody = z.output<typeof musicBody>;

/** The operations of one kind. The kinds differ in their names, requests and responses. */
function getOperations<Body>(
  { name, path, tag }: { name: 'Video' | 'Music'; path: 'video' | 'music'; tag: 'Videos' | 'Music' },
  schemas: { readonly model: z.ZodType; readonly body: z.ZodType<Body>; readonly job: z.ZodType },
) {
  const common = {
    tag,
    auth: 'key-or-token',
    scopes: ['ai:generate'],
    owner: 'caller',
    family: 'public',
    subject: `${name} generation`,
  } as const;
  const read = { ...common, method: 'GET', rate: { key: 'day-exempt', user: 'standard' } } as const;
  const write = { ...common, method: 'POST', rate: { key: 'standard', user: 'standard' } } as const;
  const { job } = schemas;
  return {
    models: defineOperation({
      ...read,
      id: `list${name}Models`,
      path: `/api/v1/${path}-models`,
      summary: `List the models that generate ${path} as jobs, with their capabilities`,
      description: `Use the ids and the possible values in \`create${name}Generation\`.`,
      owner: 'none',
      input: {},
      output: {
        200: {
          description: 'All models.',
          schema: z.object({
            models: z.array(schemas.model).describe('All models of this kind that the caller can use.'),
          }),
        },
      },
    }),
    create: defineOperation({
      ...write,
      id: `create${name}Generation`,
      paid: true,
      path: `/api/v1/${path}-generations`,
      summary: path === 'video' ? 'Generate a video' : 'Generate music',
      description:
        'Acknowledges at once, with the credits held; the work goes on without polling. A request that the model cannot ' +
        'fulfil is rejected, and costs nothing. Only a generation that succeeds is charged.',
      idempotent: true,
      input: { body: schemas.body },
      output: { 202: { description: 'Accepted.', schema: job } },
      refusals: [
        ...(path === 'video'
          ? [
              {
                status: 404,
                description: 'The input image is unknown to the caller (`input_image_not_found`).',
              },
            ]
          : []),
        {
          status: 503,
          description: 'The service is about to restart; retry after `Retry-After`.',
        },
      ],
    }),
    list: defineOperation({
      ...read,
      id: `list${name}Generations`,
      path: `/api/v1/${path}-generations`,
      summary: `List the caller's ${path} generations, newest first`,
      description:
        'Filter by state or by place of start. Pass `next_cursor` as `cursor` to get the next page.',
      input: {
        query: pageQuery.extend({
          state: state.optional().describe('Only jobs in this state.'),
          source: source.optional().describe('Only jobs that were started there.'),
        }),
      },
      output: { 200: { description: 'A page of generations.', schema: cursorPage(job) } },
    }),
    get: defineOperation({
      ...read,
      id: `get${name}Generation`,
      path: `/api/v1/${path}-generations/{id}`,
      summary: `Get the status of a ${path} generation`,
      description: 'Poll until `state` is `succeeded`, `failed`, `blocked` or `cancelled`.',
      input: { params: idParams },
      output: { 200: { description: 'The current state.', schema: job } },
    }),
    events: defineOperation({
      ...read,
      id: `get${name}GenerationEvents`,
      path: `/api/v1/${path}-generations/{id}/events`,
      summary: `Follow a ${path} generation`,
      description: STATES_DESCRIPTION,
      input: { params: idParams, query: eventsQuery },
      output: statesOutput(job),
    }),
    cancel: defineOperation({
      ...write,
      id: `cancel${name}Generation`,
      path: `/api/v1/${path}-generations/{id}/cancel`,
      summary: `Cancel a ${path} generation`,
      description:
        'A generation that is being stored, or has ended, is returned unchanged. A cancelled generation is not charged.',
      input: { params: idParams },
      output: { 200: { description: 'The current state.', schema: job } },
    }),
  };
}

export type GenerationOperations<Body> = ReturnType<typeof getOperations<Body>>;

export const videoOperations = getOperations(
  { name: 'Video', path: 'video', tag: 'Videos' },
  { model: videoModel, body: videoBody, job: videoJob },
);

export const musicOperations = getOperations(
  { name: 'Music', path: 'music', tag: 'Music' },
  { model: musicModel, body: musicBody, job: musicJob },
);
