import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { Call } from '../src/contract/call.ts';
import type { AskedCompletion } from '../src/features/completions/answer.ts';
import type { CompletionEncoder, CompletionEnd } from '../src/features/completions/encoder.ts';
import {
  type AnswerWatch,
  type CompletionRunServices,
  readCompletion,
  streamCompletion,
} from '../src/features/completions/run.ts';
import { createCircuitBreaker, getCircuit } from '../src/models/breaker.ts';
import type { CatalogueEntry } from '../src/models/catalogue.ts';
import type { OpenStream } from '../src/operations/open-streams.ts';
import type { CreditLedger, Hold, HoldRequest } from '../src/ports/ledger.ts';
import type { AnswerPart, GenerateRequest } from '../src/ports/models.ts';
import { isApiError } from '../src/shared/errors.ts';
import { createVendor } from './completion-vendor.ts';
import { openAccount } from './paid-calls.ts';

interface SetUp {
  /** Micro-credits. Default 1,000,000. */
  readonly credit?: number;
  readonly enforceCredits?: boolean;
  /** The fallback models. */
  readonly standIns?: readonly string[];
  readonly asked?: Partial<AskedCompletion>;
  /** What happens while the ledger ends a hold. */
  readonly whileEnding?: 'leave' | 'stop';
  /** Replaces the watch of a stream. */
  readonly watch?: Partial<AnswerWatch>;
}

/** Ten estimated tokens of input and five of output, of 10,000 micro-credits each. */
const REQUEST: GenerateRequest = {
  model: 'm',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'x'.repeat(25) }] }],
  maxTokens: 5,
  promptCache: {} as never,
};

/** Asks for 10,000 tokens of output. */
export function withLongAnswer(isCapNamed: boolean): Partial<AskedCompletion> {
  return { isCapNamed, request: { ...REQUEST, maxTokens: 10_000 } };
}

/** A completion of the model `m`, whose vendor answers what the test says. Its log has the calls in their order. */
export async function openCompletion(setUp: SetUp = {}) {
  const { credit = 1_000_000, enforceCredits = true, standIns = [] } = setUp;
  const log: string[] = [];
  const account = await openAccount({ credit });
  const leaving = new AbortController();
  const streams = new Set<OpenStream>();
  const stop = (): void => {
    for (const stream of streams) stream.stop();
  };
  const onEnding = (): void => {
    if (setUp.whileEnding === 'leave') leaving.abort();
    if (setUp.whileEnding === 'stop') stop();
  };
  const { ledger } = account.services;
  const services = {
    ...account.services,
    ledger: {
      ...ledger,
      hold(request: HoldRequest) {
        log.push(`hold ${request.key} ${request.amount}`);
        return ledger.hold(request);
      },
      settle(...settlement: Parameters<CreditLedger['settle']>) {
        log.push(`settle ${settlement[1]}`);
        onEnding();
        return ledger.settle(...settlement);
      },
      release(hold: Hold) {
        log.push('release');
        onEnding();
        return ledger.release(hold);
      },
    },
    breaker: createCircuitBreaker(account.clock),
    adminSettings: { current: () => ({ enforceCredits }) },
    completions: { insufficientCreditsStatus: 422 },
    streams: {
      add(stream: OpenStream) {
        streams.add(stream);
        return () => streams.delete(stream);
      },
    },
  } as unknown as CompletionRunServices;
  const vendors = ['m', ...standIns].map((model) => createVendor(model, log));
  const [vendor, ...others] = vendors;
  if (vendor === undefined) throw new Error('there is no vendor');
  const call = {
    ...{ id: 'call', requestId: 'r-1', caller: { kind: 'token', userId: 'a', isAdmin: false } },
    ...{ mountPath: '', request: {}, signal: leaving.signal },
  } as unknown as Call;
  const asked: AskedCompletion = {
    ...{ operation: 'ask', family: 'completions', entry: vendor.entry, request: REQUEST, isCapNamed: true },
    ...{ standIns: others.map(({ entry }) => entry), ...setUp.asked },
  };
  const parts: AnswerPart[] = [];
  const ends: CompletionEnd[] = [];
  const watch: AnswerWatch = {
    onComplete: async () => void log.push('complete'),
    onBreak: async (isCharged) => void log.push(`break ${isCharged}`),
    ...setUp.watch,
  };
  return {
    ...account,
    services,
    call,
    asked,
    vendor,
    others,
    leaving,
    log,
    /** What the client was given. */
    parts,
    /** The ends that the encoder wrote. */
    ends,
    /** Reads the whole answer. */
    read: () =>
      readCompletion(
        services,
        call,
        asked,
        (part) => parts.push(part),
        () => log.push('charge'),
      ),
    /** Streams the answer. A frame is the texts of a step and a bar. */
    stream: (isWatched = true) =>
      streamCompletion(
        services,
        call,
        asked,
        ({ entry }) => createEncoder(entry, ends),
        isWatched ? watch : undefined,
      ),
    /** Stops the process. */
    stop,
    streams,
    /** Lets the work that is due run. */
    settle: () => turn(),
    /** Returns the numbers of open timers, listeners and streams. */
    leftovers: () => [account.clock.pending, getEventListeners(leaving.signal, 'abort').length, streams.size],
  };
}

function createEncoder({ info }: CatalogueEntry, ends: CompletionEnd[]): CompletionEncoder {
  let text = '';
  return {
    head: `head ${info.id}|`,
    add(part) {
      if (part.type === 'text') text += part.text;
    },
    flush() {
      const frames = text === '' ? '' : `${text}|`;
      text = '';
      return frames;
    },
    end(end) {
      ends.push(end);
      return 'end|';
    },
    fail(error, end) {
      ends.push(end);
      return `${error.status} ${error.message}|`;
    },
  };
}

/** Returns the status and the message of the failure that work ends with. */
export async function catchFailure(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (isApiError(error)) return `${error.status} ${error.message}`;
    throw error;
  }
  return 'no failure';
}

/** Opens the circuit of a model for the caller. */
export async function openCircuit({ breaker }: CompletionRunServices, entry: CatalogueEntry): Promise<void> {
  for (let failures = 0; failures < 5; failures += 1) {
    const work = (): Promise<never> => Promise.reject(new Error('away'));
    await breaker.call(getCircuit(entry, 'a'), undefined, work).catch(() => undefined);
  }
}

export const LEFT_MESSAGE = '400 The client disconnected before the answer began';
export const FAILED_MESSAGE = '500 Model response error: the provider failed';
export const STOPPED_MESSAGE = '503 The service is about to restart. Try again shortly.';

export async function readFrames(frames: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const frame of frames) text += frame;
  return text;
}
