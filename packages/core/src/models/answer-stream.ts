import type { AnswerPart, GenerateRequest, ModelChunk, ModelPart } from '../ports/models.ts';
import { abortable, cancelIterator, lazyIterator } from '../shared/streams.ts';
import type { CallControl } from './call-control.ts';
import type { CatalogueEntry } from './catalogue.ts';
import type { Meter } from './meter.ts';

/**
 * Calls the provider and reads up to the first output, so that earlier failures can be retried. Does not wait for a
 * provider that ignores the signal.
 */
export async function readToFirstOutput(
  entry: CatalogueEntry,
  request: GenerateRequest,
  { meter, control }: { readonly meter: Meter; readonly control: CallControl },
  signal: AbortSignal,
): Promise<AsyncIterator<ModelChunk>> {
  const source = beginCall(entry, request, meter, control.signal);
  const read: ModelChunk[] = [];
  try {
    signal.throwIfAborted();
    return await abortable(readFirstChunk(source, read), signal);
  } catch (error) {
    if (signal.aborted) {
      control.stop(signal.reason);
      for (const part of read.flat()) meter.record(part);
    }
    cancelIterator(source);
    throw error;
  }
}

/** Calls the provider on the first `next()`. */
export function beginCall(
  { provider }: CatalogueEntry,
  request: GenerateRequest,
  meter: Meter,
  signal: AbortSignal,
): Required<Pick<AsyncIterator<ModelChunk>, 'next' | 'return'>> {
  return lazyIterator(async () => {
    meter.ask();
    const chunks = await provider.generate(request, { signal });
    meter.accept();
    return chunks[Symbol.asyncIterator]();
  });
}

async function readFirstChunk(
  source: AsyncIterator<ModelChunk>,
  read: ModelChunk[],
): Promise<AsyncIterator<ModelChunk>> {
  for (;;) {
    const step = await source.next();
    if (step.done === true) return joined(read, source);
    read.push(step.value);
    const parts = Array.isArray(step.value) ? step.value : [step.value as ModelPart];
    if (parts.some((part: ModelPart) => part.type !== 'usage')) return joined(read, source);
  }
}

function joined(read: readonly ModelChunk[], rest: AsyncIterator<ModelChunk>): AsyncIterator<ModelChunk> {
  let place = 0;
  return {
    async next() {
      const value = read[place];
      if (value === undefined) return rest.next();
      place += 1;
      return { done: false, value };
    },
    async return() {
      place = read.length;
      await rest.return?.();
      return { done: true, value: undefined };
    },
  };
}

/** What reading an answer needs. */
export interface ReadableAnswer<P extends AnswerPart> {
  readonly chunks: AsyncIterator<P | readonly P[]>;
  readonly money: {
    readonly meter: Pick<Meter, 'record' | 'awaitsReport'>;
    readonly control: Pick<CallControl, 'cancelAfterDisconnect'>;
  };
}

/**
 * Reads an answer to its end. If the client disconnects, stops the provider, unless only the usage report of a
 * complete answer is missing.
 * @param onPart called with each part until the client disconnects.
 * @throws the signal's reason if the client disconnected; the error of the provider's stream.
 */
export async function readAnswer<P extends AnswerPart = ModelPart>(
  { chunks, money }: ReadableAnswer<P>,
  signal: AbortSignal,
  onPart: (part: P) => void,
): Promise<void> {
  const { meter, control } = money;
  const take = (part: P): void => {
    meter.record(part);
    if (!signal.aborted) onPart(part);
  };
  const read = async (): Promise<void> => {
    for (;;) {
      const step = await chunks.next();
      if (step.done === true) return;
      if (signal.aborted && !meter.awaitsReport) return;
      if (Array.isArray(step.value)) for (const part of step.value as readonly P[]) take(part);
      else take(step.value as P);
      if (signal.aborted && !meter.awaitsReport) return;
    }
  };
  const reading = read();
  try {
    await abortable(reading, signal);
  } catch (error) {
    if (signal.aborted) await control.cancelAfterDisconnect(signal.reason, () => reading);
    cancelIterator(chunks);
    throw error;
  }
}
