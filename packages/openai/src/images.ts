import { defineOperation, defineRoute, jsonReply, type Route } from '@questline/core';
import {
  answerOnce,
  type Call,
  findDefaultImageModel,
  type GetCatalogue,
  type ImagesAtOnceServices,
  makeImagesAtOnce,
  type OnceServices,
  type PipelineServices,
  text,
  unknownModel,
} from '@questline/core/internal';
import type { Media } from '@questline/core/ports';
import * as z from 'zod';
import { issue, openAIErrors, unsupported } from './errors.ts';
import { describeForm, type Form, readWholeForm } from './form.ts';

/* By the types of the npm package `openai` 7.57.0 (13 November 2026). */

export interface ImageRouteServices extends PipelineServices, ImagesAtOnceServices, OnceServices {
  readonly getCatalogue: GetCatalogue;
}

const MAX_INPUT_BYTES = 50 * 2 ** 20;
const INPUT_TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/webp'];

const body = z.looseObject({
  prompt: text({ min: 1, max: 32_000 }),
  model: z.string().nullish(),
  n: z.int().min(1).max(10).nullish(),
  size: z
    .string()
    .regex(/^(?:auto|[1-9]\d{0,4}x[1-9]\d{0,4})$/, 'expected auto, or pixels as in 1024x1024')
    .nullish(),
  quality: z.enum(['standard', 'hd', 'low', 'medium', 'high', 'xhigh', 'max', 'auto']).nullish(),
  style: z.enum(['vivid', 'natural']).nullish(),
  background: z.enum(['transparent', 'opaque', 'auto']).nullish(),
  output_format: z.enum(['png', 'jpeg', 'webp']).nullish(),
  response_format: z.enum(['b64_json', 'url']).nullish(),
  stream: z.boolean().nullish(),
  partial_images: z.int().nullish(),
});

type ImageBody = z.output<typeof body>;

const common = {
  paid: true,
  method: 'POST',
  auth: 'key-or-token',
  scopes: ['ai:generate'],
  rate: { key: 'standard', user: 'standard' },
  owner: 'none',
  family: 'public',
  errorFormat: openAIErrors,
  idempotent: true,
  output: { 200: { description: 'The images.' } },
} as const;

const createOpenAIImage = defineOperation({
  ...common,
  id: 'createOpenAIImage',
  path: '/v1/images/generations',
  counterpart: 'generateImage',
  summary: 'Generate images',
  input: { body },
});

const editOpenAIImage = defineOperation({
  ...common,
  id: 'editOpenAIImage',
  path: '/v1/images/edits',
  counterpart: 'editImage',
  summary: 'Edit an image',
  bodyType: 'multipart',
  bodyLimit: MAX_INPUT_BYTES,
  input: {},
});

export function imageRoutes(services: ImageRouteServices): Route[] {
  return [
    defineRoute(createOpenAIImage, services, async ({ body: asked }, call) => {
      const once = { call, path: createOpenAIImage.path, body: asked };
      const { answer, headers } = await answerOnce(services, once, 'finish', () =>
        makeImages(services, createOpenAIImage.id, asked, {}, call),
      );
      return jsonReply(200, answer, headers);
    }),
    defineRoute(editOpenAIImage, services, async (_input, call) => {
      const form = await readWholeForm(call.request, MAX_INPUT_BYTES);
      const [asked, input] = [readEdit(form), getInput(form)];
      const once = { call, path: editOpenAIImage.path, body: describeForm(form) };
      const { answer, headers } = await answerOnce(services, once, 'finish', () =>
        makeImages(services, editOpenAIImage.id, asked, input, call),
      );
      return jsonReply(200, answer, headers);
    }),
  ];
}

async function makeImages(
  services: ImageRouteServices,
  operation: string,
  asked: ImageBody,
  input: { source?: Media; mask?: Media; references?: Media[] },
  call: Call,
) {
  if (asked.stream === true) throw unsupported('stream', 'images arrive at once');
  if ((asked.partial_images ?? 0) > 0) throw unsupported('partial_images', 'images arrive at once');
  if (asked.response_format === 'url') throw unsupported('response_format', 'use b64_json');
  const catalogue = await services.getCatalogue(call.caller);
  const { enforceCredits } = await services.adminSettings.current();
  const id = asked.model ?? findDefaultImageModel(catalogue, enforceCredits)?.info.id ?? '';
  const entry = catalogue.find(id);
  if (entry?.info.type !== 'image') {
    throw unknownModel(id, `'${id.slice(0, 100)}' is not an image model of this server`);
  }
  const { prompt, n, size, quality, style, background, output_format: outputFormat } = asked;
  const [width, height] = size == null || size === 'auto' ? [] : size.split('x').map(Number);
  const options = {
    prompt,
    count: n ?? 1,
    ...(width !== undefined && height !== undefined && { size: { width, height } }),
    ...(quality != null && quality !== 'auto' && { quality }),
    ...(style != null && { style }),
    ...(background != null && { background }),
    ...(outputFormat != null && { outputFormat }),
  };
  const { images, revisedPrompt, usage } = await makeImagesAtOnce(
    services,
    { operation, entry, options, input },
    call,
  );
  const { input: inputTokens = 0, output: outputTokens = 0 } = usage ?? {};
  return {
    created: Math.floor(services.clock.now() / 1000),
    data: images.map(({ data }) => ({
      b64_json: Buffer.from(data).toString('base64'),
      ...(revisedPrompt !== undefined && { revised_prompt: revisedPrompt }),
    })),
    ...(inputTokens + outputTokens > 0 && {
      usage: {
        input_tokens: inputTokens,
        output_tokens: outputTokens,
        total_tokens: inputTokens + outputTokens,
        input_tokens_details: { text_tokens: inputTokens, image_tokens: 0 },
      },
    }),
  };
}

/** @throws ApiError 400 that names the field. */
function readEdit({ fields }: Form): ImageBody {
  const { n, stream, partial_images: partial, ...rest } = fields;
  const parsed = body.safeParse({
    ...rest,
    ...(n !== undefined && { n: Number(n) }),
    ...(stream !== undefined && { stream: stream === 'true' }),
    ...(partial !== undefined && { partial_images: Number(partial) }),
  });
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  throw issue(first?.path.join('.') ?? '', first?.message ?? 'invalid');
}

/** The first image is edited; the others are references. */
function getInput({ files }: Form): { source: Media; mask?: Media; references?: Media[] } {
  const toMedia = (field: string): Media[] =>
    files
      .filter((file) => file.field === field)
      .map(({ contentType, data }) => {
        const mediaType = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
        if (!INPUT_TYPES.includes(mediaType)) throw issue(field, `expected ${INPUT_TYPES.join(', ')}`);
        return { mediaType, data };
      });
  const [source, ...references] = toMedia('image');
  if (source === undefined) throw issue('image', 'is required');
  const [mask] = toMedia('mask');
  return { source, ...(mask !== undefined && { mask }), ...(references.length > 0 && { references }) };
}
