import type { Call } from '../../contract/call.ts';
import { jsonReply, Reply } from '../../contract/reply.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { AudioFormat, Media } from '../../ports/media.ts';
import type { ObjectStore } from '../../ports/objects.ts';
import type { JobQueue } from '../../ports/queue.ts';
import { ApiError } from '../../shared/errors.ts';
import { type FileLibrary, LINK_MS, type SavedFile } from '../files/library.ts';
import type { ObjectLinks } from '../files/objects-links.ts';
import type { InlineAudio } from './contract.ts';
import { expireJob } from './passing.ts';

export interface DeliveryServices {
  readonly library: FileLibrary;
  readonly objects: ObjectStore;
  readonly objectLinks: ObjectLinks;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Maximum bytes of audio within a response. */
  readonly inlineAudioMaxBytes: number;
}

/** How to deliver the audio. */
export interface DeliveryOptions {
  /** The file name without an extension. */
  readonly name: string;
  readonly format: AudioFormat;
  readonly encoding: 'binary' | 'base64';
  readonly preview: boolean;
  /** Additional response headers. */
  readonly provider?: string | undefined;
  readonly fallbackFrom?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

interface SavedAudio {
  readonly saved?: boolean;
  readonly fileId?: string;
  readonly fabFileId?: string;
  readonly fileName?: string;
  readonly fileUrl?: string;
  readonly saveSkippedReason?: NonNullable<SavedFile['skipped']>;
}

/** Stores audio that was generated and paid for, and delivers it: in the response, or as a URL when it is large. */
export async function deliver(
  services: DeliveryServices,
  audio: Media,
  options: DeliveryOptions,
  call: Call,
): Promise<Reply> {
  const { encoding, format, provider, fallbackFrom } = options;
  const kept = options.preview ? {} : await keep(services, audio, options, call);
  const about = {
    contentType: audio.mediaType,
    format,
    ...kept,
    ...(provider !== undefined && { provider }),
    ...(fallbackFrom !== undefined && { fallbackFrom }),
  };
  const headers = { ...options.headers, ...toHeaders(kept) };
  if (audio.data.length <= services.inlineAudioMaxBytes) {
    if (encoding === 'binary') {
      return new Reply(200, { 'Content-Type': audio.mediaType, ...headers }, audio.data);
    }
    const body: InlineAudio = {
      ...about,
      delivery: 'inline',
      audio: Buffer.from(audio.data).toString('base64'),
    };
    return jsonReply(200, body);
  }
  const url = kept.fileUrl ?? (await passingLink(services, audio, call));
  if (url === undefined) throw tooLarge(about);
  if (encoding === 'binary') return new Reply(303, { Location: url, ...headers }, undefined);
  const body: InlineAudio = { ...about, delivery: 'url', url, bytes: audio.data.length };
  return jsonReply(200, body);
}

async function keep(
  { library }: DeliveryServices,
  { mediaType, data }: Media,
  { name, format }: DeliveryOptions,
  { caller, mountPath, id }: Call,
): Promise<SavedAudio> {
  const fileName = `${name}-${id.slice(-6)}.${format}`;
  const outcome = await library.save(caller.userId, { name: fileName, mimeType: mediaType, content: data });
  if (outcome.file === undefined) return { saved: false, saveSkippedReason: outcome.skipped };
  const link = await library.link(outcome.file, mountPath);
  return {
    saved: true,
    fileId: outcome.file.id,
    fabFileId: outcome.file.id,
    fileName,
    ...(link !== undefined && { fileUrl: link.url }),
  };
}

function toHeaders({ saved, fileId, fileName, fileUrl }: SavedAudio): Record<string, string> {
  return {
    'X-Audio-Saved': String(saved === true),
    ...(fileId !== undefined && { 'X-Audio-File-Id': fileId }),
    ...(fileName !== undefined && { 'X-Audio-File-Name': fileName }),
    ...(fileUrl !== undefined && { 'X-Audio-File-Url': fileUrl }),
  };
}

/** A URL of audio without a file, stored until the URL expires. */
async function passingLink(
  { objects, objectLinks, queue, clock, ids }: DeliveryServices,
  { mediaType, data }: Media,
  { mountPath }: Call,
): Promise<string | undefined> {
  const key = `passing/${ids.next()}${Buffer.from(ids.bytes(8)).toString('hex')}`;
  const expiresAt = clock.now() + LINK_MS;
  const url = await objectLinks.get(key, { expiresAt, contentType: mediaType }, mountPath);
  if (url === undefined) return undefined;
  await queue.enqueue(expireJob(key, expiresAt));
  await objects.put(key, data, { contentType: mediaType });
  return url;
}

/** The audio was paid for; its file, if it was stored, still exists. */
function tooLarge({
  provider,
  saved,
  fileId,
  fileUrl,
}: SavedAudio & { readonly provider?: string }): ApiError {
  return new ApiError(413, 'The audio is too large for a response, and this server cannot issue URLs.', {
    extra: {
      ...(provider !== undefined && { provider }),
      ...(saved !== undefined && { saved }),
      ...(fileId !== undefined && { fileId, fabFileId: fileId }),
      ...(fileUrl !== undefined && { fileUrl }),
    },
  });
}
