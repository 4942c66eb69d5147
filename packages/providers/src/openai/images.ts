import { type ImageRequest, type ImageResult, type Media, ProviderError } from '@questline/core';
import { record, text } from '../content/fields.ts';
import { type FormField, multipart } from '../http/multipart.ts';
import type { Upstream } from '../http/upstream.ts';

type Fields = Readonly<Record<string, string | number>>;

/** Models that answer with addresses unless told otherwise, and know `style`. */
function isOlder(model: string): boolean {
  return /^dall-e/.test(model);
}

const qualities: Readonly<Record<string, string>> = {
  standard: 'medium',
  hd: 'high',
  xhigh: 'high',
  max: 'high',
};

/** What the two calls have in common. */
function fieldsOf(request: ImageRequest): Fields {
  const { model, size, quality, background, outputFormat, style } = request;
  const older = isOlder(model);
  return {
    model,
    prompt: request.prompt,
    n: request.count,
    ...(size !== undefined && { size: `${size.width}x${size.height}` }),
    ...(quality !== undefined && { quality: older ? quality : (qualities[quality] ?? quality) }),
    ...(older && { response_format: 'b64_json' }),
    ...(older && style !== undefined && { style }),
    ...(!older && background !== undefined && { background }),
    ...(!older && outputFormat !== undefined && { output_format: outputFormat }),
  };
}

/** Draws, or changes what it is given: `/images/generations`, or `/images/edits` when there are pictures to start from. */
export async function drawImages(
  upstream: Upstream,
  request: ImageRequest,
  call: {
    readonly headers: (contentType: string) => readonly string[];
    readonly key: string;
    readonly signal: AbortSignal | undefined;
  },
): Promise<ImageResult> {
  const { key, signal } = call;
  const fields = fieldsOf(request);
  const pictures = [...(request.source === undefined ? [] : [request.source]), ...(request.references ?? [])];
  if (pictures.length === 0) {
    const headers = call.headers('application/json');
    const body = JSON.stringify(fields);
    return resultOf(
      await upstream.json({ path: '/images/generations', headers, body, key, signal }),
      request,
    );
  }
  const form: FormField[] = Object.entries(fields).map(([name, value]) => ({ name, value: String(value) }));
  const name = pictures.length > 1 ? 'image[]' : 'image';
  for (const [place, picture] of pictures.entries()) form.push(fileField(name, `image-${place}`, picture));
  if (request.mask !== undefined) form.push(fileField('mask', 'mask', request.mask));
  const { contentType, body } = multipart(form);
  const headers = call.headers(contentType);
  return resultOf(await upstream.json({ path: '/images/edits', headers, body, key, signal }), request);
}

function fileField(name: string, filename: string, { mediaType, data }: Media): FormField {
  return { name, filename: `${filename}.${mediaType.split('/')[1] ?? 'png'}`, mediaType, data };
}

function resultOf(answer: unknown, { outputFormat = 'png' }: ImageRequest): ImageResult {
  const { data, usage, output_format: made } = record(answer);
  const items = (Array.isArray(data) ? data : []).map(record);
  const mediaType = `image/${text(made) ?? outputFormat}`;
  const images = items.flatMap(({ b64_json: bytes }) => {
    const base64 = text(bytes);
    return base64 === undefined ? [] : [{ mediaType, data: Buffer.from(base64, 'base64') }];
  });
  if (images.length === 0) throw new ProviderError('failed', 'answered without an image');
  const revisedPrompt = text(items[0]?.revised_prompt);
  const { input_tokens: input, output_tokens: output } = record(usage);
  const isCounted = typeof input === 'number' && typeof output === 'number';
  return {
    images,
    ...(revisedPrompt !== undefined && { revisedPrompt }),
    ...(isCounted && { usage: { input, output } }),
  };
}
