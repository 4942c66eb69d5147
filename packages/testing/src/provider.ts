import { performance } from 'node:perf_hooks';
import type {
  FinishReason,
  GenerateOptions,
  GenerateRequest,
  ModelChunk,
  ModelInfo,
  ModelPart,
  ModelProvider,
  Usage,
} from '@questline/core/ports';

/** The end of a call, with its time by `performance.now()`. */
export interface ScriptedEnd {
  readonly how: 'finished' | 'failed' | 'refused' | 'aborted' | 'returned';
  readonly at: number;
  /** Chunks that the caller had read by then. */
  readonly read: number;
}

/** One call of `generate` under control of the test. */
export interface ScriptedCall {
  readonly request: GenerateRequest;
  readonly options: GenerateOptions;
  /** Resolves `generate` without output. Sending does so, too. */
  accept(): void;
  /** Rejects `generate`. */
  refuse(error: Error): void;
  /** Sends these parts in one chunk. No effect after the end of the call. */
  send(...parts: ModelPart[]): void;
  /** Reports usage, if given, and ends the answer. */
  finish(reason?: FinishReason, usage?: Usage): void;
  /** Fails the stream after the sent parts. */
  fail(error: Error): void;
  /** Undefined before its end. */
  readonly end: ScriptedEnd | undefined;
  /** Resolves at any end. */
  readonly ended: Promise<ScriptedEnd>;
}

export interface ScriptedProvider extends ModelProvider {
  /** Every call so far, oldest first. */
  readonly calls: readonly ScriptedCall[];
  /** Returns the oldest call that it has not returned yet; waits for one if necessary. */
  nextCall(): Promise<ScriptedCall>;
}

export interface ScriptedProviderOptions {
  /** Default `scripted`. */
  readonly id?: string;
  /** Default: one text model called `scripted-1`, 1 USD in and 5 USD out per million tokens. */
  readonly models?: readonly ModelInfo[];
  /** Called with every call. Default: the test controls the calls. @see say */
  readonly answer?: (call: ScriptedCall) => void | Promise<void>;
}

/** A model whose stream the test controls; records its calls. */
export function createScriptedProvider(options: ScriptedProviderOptions = {}): ScriptedProvider {
  const { id = 'scripted', answer } = options;
  const models = options.models ?? [defaultModel(id)];
  const calls: ScriptedCall[] = [];
  const waiting: ((call: ScriptedCall) => void)[] = [];
  let handedOut = 0;

  return {
    id,
    models: () => models,
    calls,
    nextCall() {
      const known = calls[handedOut];
      handedOut += 1;
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((resolve) => waiting.push(resolve));
    },
    async generate(request, generateOptions) {
      const { call, accepted } = startCall(request, generateOptions);
      calls.push(call);
      waiting.shift()?.(call);
      if (answer !== undefined) {
        void Promise.resolve(answer(call)).catch((error: unknown) =>
          call.fail(error instanceof Error ? error : new Error(String(error))),
        );
      }
      return accepted;
    },
  };
}

/** Answers a call with these parts, one chunk each, and ends it unless they end themselves. */
export function say(...parts: readonly ModelPart[]): (call: ScriptedCall) => void {
  return (call) => {
    call.accept();
    for (const part of parts) if (part.type !== 'finish') call.send(part);
    const last = parts.find((part) => part.type === 'finish');
    call.finish(last?.reason ?? (parts.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'stop'));
  };
}

/** A tool call as a provider streams it: pieces of its JSON arguments, then the whole call. */
export function callTool(
  index: number,
  { id, name }: { readonly id: string; readonly name: string },
  pieces: readonly string[],
): ModelPart[] {
  const args = pieces.join('') || '{}';
  const progress = pieces.length === 0 ? [args] : pieces;
  return [
    { type: 'tool_use_delta', index, id, name, arguments: '' },
    ...progress.map((piece): ModelPart => ({ type: 'tool_use_delta', index, arguments: piece })),
    { type: 'tool_use', id, name, arguments: args },
  ];
}

function defaultModel(provider: string): ModelInfo {
  return {
    id: 'scripted-1',
    name: 'Scripted 1',
    type: 'text',
    provider,
    contextWindow: 100_000,
    maxOutputTokens: 8192,
    supportsStreaming: true,
    supportsThinking: true,
    supportsTools: true,
    supportsVision: true,
    prices: { input: 1, output: 5 },
  };
}

/** A queued item of the stream: a chunk, its end, or a failure after all chunks. */
type Item = { readonly chunk: ModelChunk } | { readonly error: unknown } | 'end';

function startCall(request: GenerateRequest, options: GenerateOptions) {
  const items: Item[] = [];
  let wake = (): void => undefined;
  let end: ScriptedEnd | undefined;
  let read = 0;
  let resolveEnded = (_: ScriptedEnd): void => undefined;
  let resolveAccepted = (_: AsyncIterable<ModelChunk>): void => undefined;
  let rejectAccepted = (_: unknown): void => undefined;
  const ended = new Promise<ScriptedEnd>((resolve) => {
    resolveEnded = resolve;
  });
  const accepted = new Promise<AsyncIterable<ModelChunk>>((resolve, reject) => {
    resolveAccepted = resolve;
    rejectAccepted = reject;
  });

  const endAs = (how: ScriptedEnd['how']): void => {
    if (end !== undefined) return;
    end = { how, at: performance.now(), read };
    options.signal?.removeEventListener('abort', onAbort);
    resolveEnded(end);
  };

  /** Discards the queued items. */
  const cutOff = (item: Item): void => {
    items.length = 0;
    items.push(item);
    wake();
  };

  const onAbort = (): void => {
    const error: unknown = options.signal?.reason;
    endAs('aborted');
    rejectAccepted(error);
    cutOff({ error });
  };

  const add = (item: Item): void => {
    if (end !== undefined) return;
    items.push(item);
    resolveAccepted(stream);
    wake();
  };

  const stream: AsyncIterableIterator<ModelChunk> = {
    [Symbol.asyncIterator]: () => stream,
    async next() {
      for (;;) {
        const item = items[0];
        if (item === 'end') return { done: true, value: undefined };
        if (item !== undefined && 'error' in item) throw item.error;
        if (item !== undefined) {
          items.shift();
          read += 1;
          return { done: false, value: item.chunk };
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    async return() {
      endAs('returned');
      cutOff('end');
      return { done: true, value: undefined };
    },
  };

  if (options.signal?.aborted === true) onAbort();
  else options.signal?.addEventListener('abort', onAbort, { once: true });

  const call: ScriptedCall = {
    request,
    options,
    accept: () => resolveAccepted(stream),
    refuse(error) {
      if (end !== undefined) return;
      endAs('refused');
      rejectAccepted(error);
    },
    send(...parts) {
      const [only] = parts;
      add({ chunk: parts.length === 1 && only !== undefined ? only : parts });
    },
    finish(reason = 'stop', usage) {
      if (usage !== undefined) add({ chunk: { type: 'usage', usage } });
      add({ chunk: { type: 'finish', reason } });
      add('end');
      endAs('finished');
    },
    fail(error) {
      add({ error });
      endAs('failed');
    },
    get end() {
      return end;
    },
    ended,
  };
  return { call, accepted };
}
