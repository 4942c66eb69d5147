import type { GenerateRequest, ModelChunk, ModelInfo, ModelPart, ModelProvider } from '@questline/core/ports';

/** A call of the scripted model, controlled by the test. */
export interface ModelCall {
  readonly request: GenerateRequest;
  readonly apiKey: string | undefined;
  /** True once the call was aborted by its signal or by the return of its stream. */
  readonly stopped: boolean;
  /** Resolves when the call is aborted. */
  readonly whenStopped: Promise<void>;
  say(...parts: ModelPart[]): void;
  fail(error: unknown): void;
  end(): void;
}

export const SCRIPTED_MODEL: ModelInfo = {
  id: 'scripted',
  name: 'Scripted',
  type: 'text',
  provider: 'scripted',
  contextWindow: 100_000,
  maxOutputTokens: 10_000,
  supportsStreaming: true,
  supportsTools: true,
  // One output token costs 0.01 credits.
  prices: { input: 100, output: 100 },
};

export interface ScriptedProvider extends ModelProvider {
  readonly calls: readonly ModelCall[];
}

/** A provider that is controlled call by call: by `onCall` at once, or later by the test. */
export function createScriptedProvider(
  onCall: (call: ModelCall) => void | Promise<void> = () => undefined,
  models: readonly ModelInfo[] = [SCRIPTED_MODEL],
): ScriptedProvider {
  const calls: ModelCall[] = [];
  return {
    id: 'scripted',
    models: () => models,
    calls,
    async generate(request, { signal, apiKey }) {
      signal?.throwIfAborted();
      const stream = scriptedStream();
      signal?.addEventListener('abort', () => stream.stop(signal.reason), { once: true });
      const call: ModelCall = {
        request,
        apiKey,
        get stopped() {
          return stream.stopped;
        },
        whenStopped: stream.whenStopped,
        say: (...parts) => stream.push(parts.length === 1 && parts[0] ? parts[0] : parts),
        fail: stream.fail,
        end: stream.end,
      };
      calls.push(call);
      await onCall(call);
      return stream.chunks;
    },
  };
}

type Step = IteratorResult<ModelChunk, undefined>;

function scriptedStream(): {
  chunks: AsyncIterableIterator<ModelChunk>;
  readonly stopped: boolean;
  whenStopped: Promise<void>;
  push(chunk: ModelChunk): void;
  fail(error: unknown): void;
  end(): void;
  stop(reason: unknown): void;
} {
  const queue: (() => Promise<Step>)[] = [];
  let reader: ((step: Promise<Step>) => void) | undefined;
  let over: (() => Promise<Step>) | undefined;
  let stopped = false;
  let tellStopped = (): void => undefined;
  const whenStopped = new Promise<void>((resolve) => {
    tellStopped = resolve;
  });
  const add = (make: () => Promise<Step>): void => {
    const waiting = reader;
    reader = undefined;
    if (waiting === undefined) queue.push(make);
    else waiting(make());
  };
  const finish = (make: () => Promise<Step>): void => {
    over ??= make;
    add(over);
  };
  return {
    get stopped() {
      return stopped;
    },
    whenStopped,
    push: (chunk) => add(() => Promise.resolve({ done: false, value: chunk })),
    fail: (error) => finish(() => Promise.reject(error)),
    end: () => finish(() => Promise.resolve({ done: true, value: undefined })),
    stop(reason) {
      stopped = true;
      tellStopped();
      if (over === undefined) finish(() => Promise.reject(reason));
    },
    chunks: {
      [Symbol.asyncIterator]() {
        return this;
      },
      next() {
        const make = queue.shift() ?? over;
        if (make !== undefined) return make();
        return new Promise<Step>((resolve) => {
          reader = resolve;
        });
      },
      async return() {
        stopped = true;
        tellStopped();
        return { done: true, value: undefined };
      },
    },
  };
}

/** The events of a stream without comments; `[DONE]` is returned as text. */
export function getEvents(text: string): unknown[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: '))
    .map((frame) => frame.slice(6))
    .map((data) => (data === '[DONE]' ? data : JSON.parse(data)));
}
