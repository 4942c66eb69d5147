import { EventEmitter } from 'node:events';
import { createDeferred } from '../../../test/support/deferred.ts';
import type { RedisSubscriber } from '../src/index.ts';

type Part = string | number;

/** A command that was sent. Its answer is given by hand, if `reply` gives none. */
export interface Sent {
  readonly text: string;
  answer(value: unknown): void;
  fail(error: unknown): void;
}

/** A client without a network. */
export class ScriptedClient extends EventEmitter implements RedisSubscriber {
  readonly isCluster: boolean;
  readonly sent: Sent[] = [];
  readonly duplicates: { readonly client: ScriptedClient; readonly options: Record<string, unknown> }[] = [];
  disconnections = 0;
  /** Answers a command at once; undefined leaves it open. */
  reply: (text: string) => unknown;

  constructor(reply: (text: string) => unknown = () => undefined, isCluster = false) {
    super();
    this.reply = reply;
    this.isCluster = isCluster;
  }

  get texts(): readonly string[] {
    return this.sent.map(({ text }) => text);
  }

  call(command: string, ...parts: Part[]): Promise<unknown> {
    const text = [command, ...parts].join(' ');
    const { promise, resolve, reject } = createDeferred<unknown>();
    this.sent.push({ text, answer: resolve, fail: reject });
    const reply = this.reply(text);
    if (reply instanceof Error) reject(reply);
    else if (reply !== undefined) resolve(reply);
    return promise;
  }

  subscribe(...channels: string[]): Promise<unknown> {
    return this.call('SUBSCRIBE', ...channels);
  }

  unsubscribe(...channels: string[]): Promise<unknown> {
    return this.call('UNSUBSCRIBE', ...channels);
  }

  duplicate(options?: Record<string, unknown>): ScriptedClient {
    const client = new ScriptedClient(this.reply);
    this.duplicates.push({ client, options: options ?? {} });
    return client;
  }

  disconnect(): void {
    this.disconnections += 1;
  }
}

/** An error response of the server. */
export function replyError(message: string): Error {
  return Object.assign(new Error(message), { name: 'ReplyError' });
}
