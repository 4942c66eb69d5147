import { invalid } from '../../shared/errors.ts';
import type { LastMessage } from './ui-contract.ts';
import { VENDOR } from './ui-data.ts';

/** Maximum file parts of one message. */
const MAX_FILE_PARTS = 20;
const MAX_NAME = 255;

/** A file in a message: its data, or where they are. */
export interface SentFile {
  /** An https URL or a data URL. */
  readonly url: string;
  readonly name: string;
  /** The path of the URL in the body, for errors. */
  readonly path: string;
}

/** The last message of a user. */
export interface SentMessage {
  readonly text: string;
  readonly files: readonly SentFile[];
  /** Files that are stored already. */
  readonly fileIds: readonly string[];
}

/** Reads the last message of a page. @throws ApiError 422 for a message of another role, other parts and an empty message. */
export function readMessage({ role, parts, index }: LastMessage): SentMessage {
  const path = `messages.${index}`;
  if (role !== 'user') throw invalid(`${path}.role`, 'the last message must be of the role `user`');
  const texts: string[] = [];
  const files: SentFile[] = [];
  const fileIds: string[] = [];
  for (const [at, part] of parts.entries()) {
    const place = `${path}.parts.${at}`;
    if (part.type === 'text' && typeof part.text === 'string') texts.push(part.text);
    else if (part.type !== 'file') throw invalid(place, 'must be text or a file');
    else {
      const fileId = getFileId(part.providerMetadata);
      if (fileId === undefined) files.push(readFile(part, `${place}.url`));
      else fileIds.push(fileId);
    }
  }
  if (files.length > MAX_FILE_PARTS)
    throw invalid(`${path}.parts`, `must contain at most ${MAX_FILE_PARTS} files`);
  const text = texts.join('\n');
  if (text.trim() === '' && files.length + fileIds.length === 0) {
    throw invalid(`${path}.parts`, 'must contain text or a file');
  }
  return { text, files, fileIds };
}

function readFile({ url, filename }: Readonly<Record<string, unknown>>, path: string): SentFile {
  if (typeof url !== 'string' || !/^(?:https:\/\/|data:)/i.test(url)) {
    throw invalid(path, 'must be an https URL or a data URL');
  }
  const name = typeof filename === 'string' ? filename.slice(0, MAX_NAME).toWellFormed() : '';
  return { url, name: name === '' ? 'file' : name, path };
}

/** A part that `GET /api/chat/{id}/messages` returned names its file. */
function getFileId(metadata: unknown): string | undefined {
  const ours = (metadata as { readonly [VENDOR]?: { readonly fileId?: unknown } } | null | undefined)?.[
    VENDOR
  ];
  return typeof ours?.fileId === 'string' ? ours.fileId : undefined;
}
