import type { Call } from '../call.ts';
import { ApiError } from '../errors.ts';
import { type FileLibrary, LINK_MS, type SavedFile } from '../files/library.ts';
import { expireJob } from '../media/passing.ts';
import type { ObjectLinks } from '../objects/links.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { AudioFormat, Media } from '../ports/media.ts';
import type { ObjectStore } from '../ports/objects.ts';
import type { JobQueue } from '../ports/queue.ts';
import { jsonReply, Reply } from '../reply.ts';
import type { InlineAudio } from './contract.ts';

export interface DeliveryServices {
  readonly library: FileLibrary;
  readonly objects: ObjectStore;
  readonly objectLinks: ObjectLinks;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Larger sounds are not part of an answer. Bytes. */
  readonly inlineAudioMaxBytes: number;
}

/** How a sound is to be handed over. */
export interface DeliveryTerms {
  /** What its file is called, without an ending. */
  readonly name: string;
  readonly format: AudioFormat;
  readonly encoding: 'binary' | 'base64';
  readonly preview: boolean;
  /** Told beside the sound. */
  readonly provider?: string | undefined;
  readonly fallbackFrom?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

interface Kept {
  readonly saved?: boolean;
  readonly fileId?: string;
  readonly fileName?: string;
  readonly fileUrl?: string;
  readonly saveSkippedReason?: NonNullable<SavedFile['skipped']>;
}

/** Keeps a sound that was made and paid for, and hands it over: in the answer, or as an address when it is large. */
export async function deliver(
  services: DeliveryServices,
  audio: Media,
  terms: DeliveryTerms,
  call: Call,
): Promise<Reply> {
  const { encoding, format, provider, fallbackFrom } = terms;
  const kept = terms.preview ? {} : await keep(services, audio, terms, call);
  const about = {
    contentType: audio.mediaType,
    format,
    ...kept,
    ...(provider !== undefined && { provider }),
    ...(fallbackFrom !== undefined && { fallbackFrom }),
  };
  const headers = { ...terms.headers, ...headersOf(kept) };
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
  { name, format }: DeliveryTerms,
  { caller, mountPath, id }: Call,
): Promise<Kept> {
  const fileName = `${name}-${id.slice(-6)}.${format}`;
  const outcome = await library.save(caller.userId, { name: fileName, mimeType: mediaType, content: data });
  if (outcome.file === undefined) return { saved: false, saveSkippedReason: outcome.skipped };
  const link = await library.link(outcome.file, mountPath);
  return {
    saved: true,
    fileId: outcome.file.id,
    fileName,
    ...(link !== undefined && { fileUrl: link.url }),
  };
}

function headersOf({ saved, fileId, fileName, fileUrl }: Kept): Record<string, string> {
  return {
    'X-Audio-Saved': String(saved === true),
    ...(fileId !== undefined && { 'X-Audio-File-Id': fileId }),
    ...(fileName !== undefined && { 'X-Audio-File-Name': fileName }),
    ...(fileUrl !== undefined && { 'X-Audio-File-Url': fileUrl }),
  };
}

/** An address of a sound that is nobody's file, for as long as the address is good. */
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

/** What was made was paid for; its file, if it was kept, is still there. */
function tooLarge({ provider, saved, fileId, fileUrl }: Kept & { readonly provider?: string }): ApiError {
  return new ApiError(
    413,
    'The sound is too large for an answer, and this server cannot hand out addresses.',
    {
      extra: {
        ...(provider !== undefined && { provider }),
        ...(saved !== undefined && { saved }),
        ...(fileId !== undefined && { fileId }),
        ...(fileUrl !== undefined && { fileUrl }),
      },
    },
  );
}
