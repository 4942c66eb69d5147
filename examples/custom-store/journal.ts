import { type FileHandle, open, readFile, truncate } from 'node:fs/promises';

/** What a commit changes: by collection and id, the record as it is from then on, or null when it is gone. */
export type Changes = Readonly<Record<string, Readonly<Record<string, object | null>>>>;

/** A file to which every commit is one line. The whole state is what its lines add up to. */
export interface Journal {
  /** Resolves when the line is on the disk. */
  append(changes: Changes): Promise<void>;
  close(): Promise<void>;
}

/** Opens a journal, hands over its commits in order, and cuts off a last line that a crash left unfinished. */
export async function openJournal(path: string, onCommit: (changes: Changes) => void): Promise<Journal> {
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
