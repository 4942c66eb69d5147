import { type ImageRequest, type ImageResult, type Media, ProviderError } from '@questline/core/ports';
import { record, text } from '../content/fields.ts';
import { type FormField, multipart } from '../http/multipart.ts';
import type { Upstream } from '../http/upstream.ts';

type Fields = Readonly<Record<string, string | number>>;

/** Models that return URLs by default, and support `style`. */
function isOlder(model: string): boolean {
  return /^dall-e/.test(model);
}

const qualities: Readonly<Record<string, string>> = {
  standard: 'medium',
  hd: 'high',
  xhigh: 'high',
  max: 'high',
};

/** The common fields of both calls. */
function toFields(request: ImageRequest): Fields {
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

/** Generates or edits images: `/images/generations`, or `/images/edits` with input images. */
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
  const fields = toFields(request);
  const pictures = [...(request.source === undefined ? [] : [request.source]), ...(request.references ?? [])];
  if (pictures.length === 0) {
    const headers = call.headers('application/json');
    const body = JSON.stringify(fields);
    return toResult(
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
  return toResult(await upstream.json({ path: '/images/edits', headers, body, key, signal }), request);
}

function fileField(name: string, filename: string, { mediaType, data }: Media): FormField {
  return { name, filename: `${filename}.${mediaType.split('/')[1] ?? 'png'}`, mediaType, data };
}

function toResult(answer: unknown, { outputFormat = 'png' }: ImageRequest): ImageResult {
  const { data, usage, output_format: made } = record(answer);
  const items = (Array.isArray(data) ? data : []).map(record);
  const mediaType = `image/${text(made) ?? outputFormat}`;
  const images = items.flatMap(({ b64_json: bytes }) => {
    const base64 = text(bytes);
    return base64 === undefined ? [] : [{ mediaType, data: Buffer.from(base64, 'base64') }];
  });
  if (images.length === 0) throw new ProviderError('failed', 'the response contains no image');
  const revisedPrompt = text(items[0]?.revised_prompt);
  const { input_tokens: input, output_tokens: output } = record(usage);
  const isCounted = typeof input === 'number' && typeof output === 'number';
  return {
    images,
    ...(revisedPrompt !== undefined && { revisedPrompt }),
    ...(isCounted && { usage: { input, output } }),
  };
}
