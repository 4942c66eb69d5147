import type { Intake } from '../engine/intake.ts';
import { ApiError, notFound } from '../errors.ts';
import { isId } from '../http/identifiers.ts';
import { type ApiRequest, header } from '../http/message.ts';
import { type FormPart, readForm, textOfPart } from '../http/multipart.ts';
import { expireJob } from '../media/passing.ts';
import type { ObjectLinks } from '../objects/links.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Media } from '../ports/media.ts';
import type { ObjectStore } from '../ports/objects.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import { defineRoute, type Route } from '../route.ts';
import {
  createTranscription,
  createTranscriptionUpload,
  MOST_BYTES,
  RECORDINGS,
  transcribeAtOnce,
} from './contract.ts';
import { TRANSCRIPTION_UPLOADS, type TranscriptionUploadRecord } from './records.ts';
import { type TranscribingServices, transcribe } from './transcribing.ts';

export interface TranscriptionServices extends PipelineServices, TranscribingServices {
  readonly store: Store;
  readonly objects: ObjectStore;
  readonly objectLinks: ObjectLinks;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly intake: Intake;
}

const UPLOAD_MS = 5 * 60_000;
/** An upload that began in time may still be under way. */
const GRACE_MS = 15 * 60_000;
/** What a form has around its recording: heads, and fields that nobody asked for. */
const FORM_BYTES = 2 ** 16;
const LONGEST_FIELD = 4096;

export function transcriptionRoutes(services: TranscriptionServices): Route[] {
  return [
    createTranscriptionUploadHandler(services),
    createTranscriptionHandler(services),
    createTranscribeAtOnceHandler(services),
  ];
}

/** `POST /api/v1/transcriptions/uploads` */
export function createTranscriptionUploadHandler(services: TranscriptionServices): Route {
  const { clock, ids, queue, objectLinks } = services;
  const uploads = services.store.collection(TRANSCRIPTION_UPLOADS);
  return defineRoute(createTranscriptionUpload, services, async ({ body }, { caller, mountPath }) => {
    const id = ids.next();
    const expiresAt = clock.now() + UPLOAD_MS;
    const record: TranscriptionUploadRecord = {
      id,
      ownerId: caller.userId,
      objectKey: `transcriptions/${id}`,
      mimeType: body.mime_type,
      size: body.file_size,
      expiresAt,
    };
    // First of all, so that nothing stays behind whatever happens from here on.
    await queue.enqueue(expireJob(record.objectKey, expiresAt + GRACE_MS, id));
    await uploads.insert(record);
    const terms = { key: record.objectKey, contentType: record.mimeType, size: record.size, expiresAt };
    const { url, fields } = await objectLinks.post(terms, mountPath);
    return {
      upload_url: url,
      upload_fields: { ...fields },
      file_key: id,
      expires_at: new Date(expiresAt).toISOString(),
    };
  });
}

/** `POST /api/v1/transcriptions` */
export function createTranscriptionHandler(services: TranscriptionServices): Route {
  const { clock, intake, objects } = services;
  const uploads = services.store.collection(TRANSCRIPTION_UPLOADS);
  return defineRoute(createTranscription, services, async ({ body }, call) => {
    intake.admit();
    const { userId } = call.caller;
    const upload = isId(body.file_key)
      ? await uploads.take(body.file_key, { ownerId: userId, expiresAt: { gt: clock.now() } })
      : undefined;
    if (upload === undefined) throw notFound('Upload');
    try {
      const audio = await recordingOf(objects, upload, call.signal);
      return await transcribe(services, audio, { operation: createTranscription.id, family: 'public' }, call);
    } finally {
      await objects.remove(upload.objectKey);
    }
  });
}

async function recordingOf(
  objects: ObjectStore,
  { objectKey, mimeType, size }: TranscriptionUploadRecord,
  signal: AbortSignal,
): Promise<Media> {
  const content = await objects.get(objectKey, undefined, { signal });
  if (content === undefined) throw notFound('Upload');
  if (content.size !== size || content.contentType !== mimeType) {
    await content.body[Symbol.asyncIterator]().return?.();
    throw new ApiError(422, 'file_key: what was sent is not what was announced');
  }
  return { mediaType: mimeType, data: await bytesOf(content.body) };
}

/** `POST /api/ai/transcribe` */
export function createTranscribeAtOnceHandler(services: TranscriptionServices): Route {
  return defineRoute(transcribeAtOnce, services, async (_input, call) => {
    services.intake.admit();
    const audio = await recordingIn(call.request);
    return transcribe(services, audio, { operation: transcribeAtOnce.id, family: 'application' }, call);
  });
}

async function recordingIn(request: ApiRequest): Promise<Media> {
  if (Number(header(request.headers, 'content-length') ?? 0) > MOST_BYTES + FORM_BYTES) throw tooLarge();
  for await (const part of readForm(request)) {
    if (part.name !== 'file') {
      await textOfPart(part, LONGEST_FIELD);
      continue;
    }
    const mediaType = typeOf(part);
    if (mediaType === undefined) {
      throw new ApiError(422, `file: expected a recording, one of ${RECORDINGS.join(', ')}`);
    }
    const data = await bytesOf(part.body);
    if (data.length === 0) throw new ApiError(422, 'file: is empty');
    return { mediaType, data };
  }
  throw new ApiError(400, 'the form has no part named file');
}

/** Browsers have other names for some of them. */
const ALIASES: Readonly<Record<string, string>> = {
  'audio/mp3': 'audio/mpeg',
  'audio/x-m4a': 'audio/mp4',
  'audio/m4a': 'audio/mp4',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/x-flac': 'audio/flac',
};

function typeOf({ contentType }: FormPart): string | undefined {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const known = ALIASES[type] ?? type;
  return (RECORDINGS as readonly string[]).includes(known) ? known : undefined;
}

async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > MOST_BYTES) throw tooLarge();
    parts.push(part);
  }
  return Buffer.concat(parts, size);
}

function tooLarge(): ApiError {
  return new ApiError(413, `the recording is larger than ${MOST_BYTES} bytes`, {
    extra: { maxSize: MOST_BYTES },
  });
}
