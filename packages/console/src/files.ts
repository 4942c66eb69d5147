import { readdir, readFile } from 'node:fs/promises';

export interface AppFile {
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** Reads a file of the built app. @returns undefined when it has no file of that name. */
export type ReadAppFile = (name: string) => Promise<AppFile | undefined>;

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** dist/app lies beside the built code and beside src. */
const FOLDER = new URL('../dist/app/', import.meta.url);

/** Keeps what it has read: the app is small, and its files do not change while the process runs. */
export function createAppFiles(): ReadAppFile {
  let names: Promise<ReadonlySet<string>> | undefined;
  const read = new Map<string, Promise<AppFile>>();

  return async (name) => {
    names ??= readdir(FOLDER).then((found) => new Set(found));
    // Before a build there is no folder; the next request looks again.
    names.catch(() => {
      names = undefined;
    });
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
    if (type === undefined || !(await names).has(name)) return undefined;
    const file = read.get(name) ?? readFile(new URL(name, FOLDER)).then((bytes) => ({ type, bytes }));
    read.set(name, file);
    file.catch(() => read.delete(name));
    return file;
  };
}
