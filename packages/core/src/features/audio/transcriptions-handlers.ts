import { isId } from '../../contract/identifiers.ts';
import { type ApiRequest, header } from '../../contract/message.ts';
import { type FormPart, readForm, textOfPart } from '../../http/multipart.ts';
import type { AdmissionControl } from '../../operations/admission-control.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Media } from '../../ports/media.ts';
import type { ObjectStore } from '../../ports/objects.ts';
import type { JobQueue } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import { ApiError, notFound } from '../../shared/errors.ts';
import type { ObjectLinks } from '../files/objects-links.ts';
import { expireJob } from './passing.ts';
import { type TranscribingServices, transcribe } from './transcribe.ts';
import {
  createTranscription,
  createTranscriptionUpload,
  MAX_BYTES,
  RECORDINGS,
  transcribeAtOnce,
} from './transcriptions-contract.ts';
import { TRANSCRIPTION_UPLOADS, type TranscriptionUploadRecord } from './transcriptions-records.ts';

export interface TranscriptionServices extends PipelineServices, TranscribingServices {
  readonly store: Store;
  readonly objects: ObjectStore;
  readonly objectLinks: ObjectLinks;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly admissionControl: AdmissionControl;
}

const UPLOAD_MS = 5 * 60_000;
/** Extra time for an upload that began before the URL expired. */
const GRACE_MS = 15 * 60_000;
/** Extra bytes of a form around its recording: headers and unused fields. */
const FORM_BYTES = 2 ** 16;
const MAX_FIELD = 4096;

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
    // Registered first, so that the recording is deleted after any outcome.
    await queue.enqueue(expireJob(record.objectKey, expiresAt + GRACE_MS, id));
    await uploads.insert(record);
    const options = { key: record.objectKey, contentType: record.mimeType, size: record.size, expiresAt };
    const { url, fields } = await objectLinks.post(options, mountPath);
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
  const { clock, admissionControl, objects } = services;
  const uploads = services.store.collection(TRANSCRIPTION_UPLOADS);
  return defineRoute(createTranscription, services, async ({ body }, call) => {
    admissionControl.admit();
    const { userId } = call.caller;
    const upload = isId(body.file_key)
      ? await uploads.take(body.file_key, { ownerId: userId, expiresAt: { gt: clock.now() } })
      : undefined;
    if (upload === undefined) throw notFound('Upload');
    try {
      const audio = await readRecording(objects, upload, call.signal);
      return await transcribe(services, audio, { operation: createTranscription.id, family: 'public' }, call);
    } finally {
      // After a failure the job of the upload removes it.
      await objects.remove(upload.objectKey).catch((error: unknown) => {
        services.onError({ operation: createTranscription.id, requestId: call.requestId, error });
      });
    }
  });
}

async function readRecording(
  objects: ObjectStore,
  { objectKey, mimeType, size }: TranscriptionUploadRecord,
  signal: AbortSignal,
): Promise<Media> {
  const content = await objects.get(objectKey, undefined, { signal });
  if (content === undefined) throw notFound('Upload');
  if (content.size !== size || content.contentType !== mimeType) {
    await content.body[Symbol.asyncIterator]().return?.();
    throw new ApiError(422, 'file_key: the upload differs from its announced size or type');
  }
  return { mediaType: mimeType, data: await toBytes(content.body) };
}

/** `POST /api/ai/transcribe` */
export function createTranscribeAtOnceHandler(services: TranscriptionServices): Route {
  return defineRoute(transcribeAtOnce, services, async (_input, call) => {
    services.admissionControl.admit();
    const audio = await recordingIn(call.request);
    return transcribe(services, audio, { operation: transcribeAtOnce.id, family: 'application' }, call);
  });
}

async function recordingIn(request: ApiRequest): Promise<Media> {
  if (Number(header(request.headers, 'content-length')) > MAX_BYTES + FORM_BYTES) throw tooLarge();
  for await (const part of readForm(request)) {
    if (part.name !== 'file') {
      await textOfPart(part, MAX_FIELD);
      continue;
    }
    const mediaType = typeOf(part);
    if (mediaType === undefined) {
      throw new ApiError(422, `file: expected a recording, one of ${RECORDINGS.join(', ')}`);
    }
    const data = await toBytes(part.body);
    if (data.length === 0) throw new ApiError(422, 'file: is empty');
    return { mediaType, data };
  }
  throw new ApiError(400, 'the form has no part named file');
}

/** Maps browsers' alternative names of media types. */
const ALIASES: Readonly<Record<string, string>> = {
  'audio/mp3': 'audio/mpeg',
  'audio/x-m4a': 'audio/mp4',
  'audio/m4a': 'audio/mp4',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/x-flac': 'audio/flac',
};

function typeOf({ contentType }: FormPart): string | undefined {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  const known = ALIASES[type] ?? type;
  return (RECORDINGS as readonly string[]).includes(known) ? known : undefined;
}

async function toBytes(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > MAX_BYTES) throw tooLarge();
    parts.push(part);
  }
  return Buffer.concat(parts, size);
}

function tooLarge(): ApiError {
  return new ApiError(413, `the recording is larger than ${MAX_BYTES} bytes`, {
    extra: { maxSize: MAX_BYTES },
  });
}
