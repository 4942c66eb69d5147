import { EventEmitter } from 'node:events';
import { createDeferred, type Deferred } from '../../../test/support/deferred.ts';
import type { PostgresPool } from '../src/index.ts';
import type { PooledClient } from '../src/postgres/client.ts';

type Answer = (text: string) => Promise<{ rows: unknown[] }>;

const EMPTY: Answer = async () => ({ rows: [] });

/** A connection without a server. */
export class ScriptedClient extends EventEmitter implements PooledClient {
  readonly texts: string[] = [];
  /** What each release said. */
  readonly releases: (boolean | undefined)[] = [];
  answer: Answer;

  constructor(answer: Answer = EMPTY) {
    super();
    this.answer = answer;
  }

  query({ text }: { text: string }): Promise<{ rows: unknown[] }> {
    this.texts.push(text);
    return this.answer(text);
  }

  release(destroy?: boolean): void {
    this.releases.push(destroy);
  }
}

/** A pool that gives the connections of a list, and waits when it is empty. */
export class ScriptedPool extends EventEmitter implements PostgresPool {
  readonly waiting: Deferred<PooledClient>[] = [];
  readonly next: (ScriptedClient | Error)[] = [];

  connect(): Promise<PooledClient> {
    const connecting = createDeferred<PooledClient>();
    const next = this.next.shift();
    if (next === undefined) this.waiting.push(connecting);
    else if (next instanceof Error) connecting.reject(next);
    else connecting.resolve(next);
    return connecting.promise;
  }

  /** Gives a new connection next. */
  give(answer?: Answer): ScriptedClient {
    const client = new ScriptedClient(answer);
    this.emit('connect', client);
    this.next.push(client);
    return client;
  }
}

/** An error response of the server. */
export function serverError(code: unknown): Error {
  return Object.assign(new Error(`error ${String(code)}`), { severity: 'ERROR', code });
}
