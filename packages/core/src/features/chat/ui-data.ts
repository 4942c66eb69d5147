import type { Citation } from '../../prompts/prompt.ts';
import type { PromptMeta, QuestRecord, ToolPayload } from '../../runs/records.ts';
import type { FileLibrary } from '../files/library.ts';
import { getErrorCode } from '../quests/wire.ts';

/** A part of a message, or a chunk, in the form of the AI SDK. Plain JSON. */
export type UiPart = { readonly type: string } & Readonly<Record<string, unknown>>;

/** The key of our fields in `providerMetadata`. */
export const VENDOR = 'questline';

/** The state of the quest. A later part replaces the earlier one. */
export function toQuestPart(
  quest: Pick<QuestRecord, 'id' | 'sessionId' | 'status'> & Partial<QuestRecord>,
): UiPart {
  const { id, sessionId, status, type, stopReason } = quest;
  const errorCode = getErrorCode(quest as QuestRecord);
  return {
    type: 'data-quest',
    id: 'quest',
    data: {
      id,
      sessionId,
      status,
      ...(type !== undefined && { type }),
      ...(stopReason !== undefined && { stopReason }),
      ...(errorCode !== undefined && { errorCode }),
    },
  };
}

/** What the answer costs so far. A later part replaces the earlier one. */
export function toCreditsPart(usage: PromptMeta): UiPart {
  return { type: 'data-credits', id: 'credits', data: usage };
}

export function toPayloadPart(payload: ToolPayload, index: number): UiPart {
  return { type: 'data-payload', id: `payload-${index}`, data: payload };
}

/** The files that a payload cites. */
export function toSourceParts({ type, payload }: ToolPayload): UiPart[] {
  if (type !== 'citations' || !Array.isArray(payload)) return [];
  // The prompt and the search tool write citations.
  return (payload as unknown as readonly Citation[]).map(({ file_id: sourceId, file_name: title }) => ({
    type: 'source-document',
    sourceId,
    mediaType: 'application/octet-stream',
    title,
    filename: title,
  }));
}

/** Sources, each once. */
export function distinctSources(payloads: readonly ToolPayload[]): UiPart[] {
  const sources = payloads.flatMap(toSourceParts);
  return [...new Map(sources.map((source) => [source.sourceId, source])).values()];
}

/** The ids of the files that an answer created. */
export function getCreatedFiles({ files = [], toolPayloads = [] }: QuestRecord): string[] {
  const inPayloads = toolPayloads.flatMap(({ type, payload }) =>
    type === 'image' ? [(payload as { readonly fileId?: string } | undefined)?.fileId] : [],
  );
  const ids = [...files.map(({ fileId }) => fileId), ...inPayloads];
  return [...new Set(ids.filter((id) => id !== undefined))];
}

/** Maximum files of one lookup. */
const MAX_FILES = 1000;

/** The parts of files that the user may read, by file id. Their URLs are valid for 15 minutes. */
export async function findFileParts(
  library: FileLibrary,
  { userId, mountPath }: { readonly userId: string; readonly mountPath: string },
  fileIds: readonly string[],
): Promise<ReadonlyMap<string, UiPart>> {
  const parts = new Map<string, UiPart>();
  for (let at = 0; at < fileIds.length; at += MAX_FILES) {
    const found = await library.getAll(userId, fileIds.slice(at, at + MAX_FILES));
    for (const file of found.values()) {
      const link = await library.link(file, mountPath);
      if (link === undefined) continue;
      const providerMetadata = { [VENDOR]: { fileId: file.id } };
      const { name: filename, mimeType: mediaType } = file;
      parts.set(file.id, { type: 'file', mediaType, filename, url: link.url, providerMetadata });
    }
  }
  return parts;
}
