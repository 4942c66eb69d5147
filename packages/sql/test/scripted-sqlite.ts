import type { DatabaseSync } from 'node:sqlite';

/** A connection without a file: statements fail as the test says. */
export class ScriptedSqlite {
  readonly texts: string[] = [];
  readonly prepared: string[] = [];
  closes = 0;
  fail: (text: string) => Error | undefined = () => undefined;

  function(): void {}

  prepare(text: string) {
    this.prepared.push(text);
    return {
      all: () => {
        this.texts.push(text);
        const error = this.fail(text);
        if (error !== undefined) throw error;
        return [];
      },
    };
  }

  close(): void {
    this.closes += 1;
  }

  get database(): DatabaseSync {
    return this as unknown as DatabaseSync;
  }
}

/** An error of the engine. */
export function sqliteError(errcode: unknown, message = `error ${String(errcode)}`): Error {
  return Object.assign(new Error(message), { errcode });
}
