import * as z from 'zod';
import { pageQuery } from '../http/cursor.ts';
import { idParams } from '../http/identifiers.ts';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';

const ASPECT_RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9'] as const;
const RESOLUTIONS = ['360p', '480p', '720p', '1080p', '4k'] as const;
const FORMATS = ['mp3', 'wav', 'opus', 'aac', 'flac', 'pcm'] as const;
const MODES = ['text_to_video', 'image_to_video'] as const;
const CHOICE = ['always', 'optional', 'none'] as const;

const state = z.enum(['pending', 'running', 'storing', 'succeeded', 'failed', 'blocked', 'cancelled']);
const source = z.enum(['api', 'studio', 'agent']);

const seconds = z.number().gt(0);

/** What both kinds of models tell of themselves. */
const ofModel = {
  id: z.string(),
  display_name: z.string(),
  provider: z.string(),
  duration: z
    .discriminatedUnion('kind', [
      z.object({ kind: z.literal('range'), min: z.number(), max: z.number(), step: z.number() }),
      z.object({ kind: z.literal('discrete'), values: z.array(z.number()) }),
    ])
    .meta({ description: 'Seconds.' }),
  deprecation_date: z.string().nullable(),
};

const videoModel = z.object({
  ...ofModel,
  object: z.literal('video_model'),
  modes: z.array(z.enum(MODES)),
  aspect_ratios: z.array(z.enum(ASPECT_RATIOS)),
  resolutions: z.array(z.enum(RESOLUTIONS)),
  defaults: z.object({
    duration_seconds: z.number(),
    aspect_ratio: z.enum(ASPECT_RATIOS),
    resolution: z.enum(RESOLUTIONS),
  }),
  audio: z.enum(CHOICE),
  credits_per_second: z
    .partialRecord(z.enum(RESOLUTIONS), z.number())
    .nullable()
    .meta({ description: 'By resolution. Null: not paid by the second.' }),
});

const musicModel = z.object({
  ...ofModel,
  object: z.literal('music_model'),
  formats: z.array(z.enum(FORMATS)),
  instrumental: z.enum(CHOICE),
  defaults: z.object({ duration_seconds: z.number(), format: z.enum(FORMATS) }),
  credits_per_second: z.number().nullable().meta({ description: 'Null: not paid by the second.' }),
});

/** What both kinds of jobs have. */
const ofJob = {
  id: z.string(),
  state,
  model: z.string(),
  prompt: z.string(),
  duration_seconds: z.number(),
  source,
  progress: z.number().min(0).max(1).nullable().meta({ description: 'As far as its provider tells.' }),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  output: z
    .object({
      availability: z.enum(['ready', 'pending_scan', 'unavailable']).meta({
        description:
          '`pending_scan`: it is being checked. `unavailable`: it was blocked, or its file deleted.',
      }),
      url: z.string().nullable().meta({ description: 'Once ready. Good for 15 minutes, and made anew.' }),
      expires_at: z.iso.datetime().nullable(),
      content_type: z.string(),
      duration_seconds: z.number(),
      file_id: z.string().nullable().meta({ description: "The owner's file." }),
    })
    .nullable(),
  credits: z.object({
    reserved: z.number().nullable().meta({ description: 'Held while it lives.' }),
    settled: z.number().nullable().meta({ description: 'Charged, once it has ended.' }),
  }),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
};

const videoJob = z.object({
  ...ofJob,
  object: z.literal('video_generation'),
  mode: z.enum(MODES),
  aspect_ratio: z.enum(ASPECT_RATIOS),
  resolution: z.enum(RESOLUTIONS),
});

const musicJob = z.object({
  ...ofJob,
  object: z.literal('music_generation'),
  instrumental: z.boolean(),
  format: z.enum(FORMATS),
});

const videoBody = z.strictObject({
  model: z.string(),
  prompt: text({ min: 1, max: 4000 }),
  mode: z.enum(MODES).optional().meta({ description: 'Default: by whether there is an input image.' }),
  duration_seconds: seconds.optional(),
  aspect_ratio: z.enum(ASPECT_RATIOS).optional(),
  resolution: z.enum(RESOLUTIONS).optional(),
  input_image_file_id: z.string().optional().meta({ description: 'The first frame: a clean image file.' }),
  audio: z.boolean().optional(),
});

const musicBody = z.strictObject({
  model: z.string(),
  prompt: text({ min: 1, max: 2000 }),
  duration_seconds: seconds.optional(),
  instrumental: z.boolean().optional(),
  format: z.enum(FORMATS).optional(),
});

/** What is told of every job, whatever it makes. */
export type CommonJob = z.input<z.ZodObject<typeof ofJob>>;
export type WireVideoModel = z.input<typeof videoModel>;
export type WireMusicModel = z.input<typeof musicModel>;
export type WireVideoJob = z.input<typeof videoJob>;
export type WireMusicJob = z.input<typeof musicJob>;
export type VideoBody = z.output<typeof videoBody>;
export type MusicBody = z.output<typeof musicBody>;

/** The operations of one kind: they differ in their names, and in what is asked for and told. */
function operationsOf<Body>(
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
  const read = { ...common, method: 'GET', rate: { key: 'day-exempt', user: 'unlimited' } } as const;
  const write = { ...common, method: 'POST', rate: { key: 'standard', user: 'unlimited' } } as const;
  const { job } = schemas;
  return {
    models: defineOperation({
      ...read,
      id: `list${name}Models`,
      path: `/api/v1/${path}-models`,
      summary: `List the models that make ${path === 'video' ? 'films' : 'music'} as jobs, and what each can do`,
      owner: 'none',
      input: {},
      output: { 200: { description: 'All of them.', schema: z.object({ models: z.array(schemas.model) }) } },
    }),
    create: defineOperation({
      ...write,
      id: `create${name}Generation`,
      path: `/api/v1/${path}-generations`,
      summary: path === 'video' ? 'Have a film made' : 'Have music made',
      description:
        'Acknowledges at once, with the credits held; the work goes on whether anybody polls or not. What the model ' +
        'cannot do is refused, and costs nothing. Only a generation that succeeds is charged.',
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
          description: 'The service is about to restart; `Retry-After` says when to come back.',
        },
      ],
    }),
    list: defineOperation({
      ...read,
      id: `list${name}Generations`,
      path: `/api/v1/${path}-generations`,
      summary: `List the caller's ${path} generations, newest first`,
      input: { query: pageQuery.extend({ state: state.optional(), source: source.optional() }) },
      output: {
        200: {
          description: 'A page of them.',
          schema: z.object({ data: z.array(job), next_cursor: z.string().nullable() }),
        },
      },
    }),
    get: defineOperation({
      ...read,
      id: `get${name}Generation`,
      path: `/api/v1/${path}-generations/{id}`,
      summary: `Look how far a ${path} generation is`,
      description: 'Poll until `state` is `succeeded`, `failed`, `blocked` or `cancelled`.',
      input: { params: idParams },
      output: { 200: { description: 'As it is now.', schema: job } },
    }),
    cancel: defineOperation({
      ...write,
      id: `cancel${name}Generation`,
      path: `/api/v1/${path}-generations/{id}/cancel`,
      summary: `Cancel a ${path} generation`,
      description:
        'One that is being stored, or has ended, comes back unchanged. What is cancelled is not charged.',
      input: { params: idParams },
      output: { 200: { description: 'As it is now.', schema: job } },
    }),
  };
}

export type GenerationOperations<Body> = ReturnType<typeof operationsOf<Body>>;

export const videoOperations = operationsOf(
  { name: 'Video', path: 'video', tag: 'Videos' },
  { model: videoModel, body: videoBody, job: videoJob },
);

export const musicOperations = operationsOf(
  { name: 'Music', path: 'music', tag: 'Music' },
  { model: musicModel, body: musicBody, job: musicJob },
);
