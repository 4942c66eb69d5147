import { type FileHandle, open, readFile, truncate } from 'node:fs/promises';

/** Changes of a commit by collection and ID: the new record, or null for a deleted one. */
export type Changes = Readonly<Record<string, Readonly<Record<string, object | null>>>>;

/** A file with one line per commit. Replaying all lines gives the current state. */
export interface JournalFile {
  /** Resolves when the line is on the disk. */
  append(changes: Changes): Promise<void>;
  close(): Promise<void>;
}

/** Opens a journal, replays its commits in order, and removes a last line that a crash left incomplete. */
export async function openJournal(path: string, onCommit: (changes: Changes) => void): Promise<JournalFile> {
  const file: FileHandle = await open(path, 'a');
  const text = await readFile(path, 'utf8');
  const complete = text.lastIndexOf('\n') + 1;
  for (const line of text.slice(0, complete).split('\n')) {
    if (line !== '') onCommit(JSON.parse(line) as Changes);
  }
  const bytes = Buffer.byteLength(text.slice(0, complete));
  if (complete < text.length) await truncate(path, bytes);
  return {
    async append(changes) {
      await file.appendFile(`${JSON.stringify(changes)}\n`);
      await file.datasync();
    },
    close: () => file.close(),
  };
}
