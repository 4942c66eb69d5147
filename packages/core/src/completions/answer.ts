import type { Call } from '../call.ts';
import { type AnsweringServices, askModels } from '../models/answering.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import type { GenerateRequest, ModelChunk } from '../ports/models.ts';
import { createCompletion } from './contract.ts';
import { type CompletionMoney, type CompletionMoneyServices, holdFor } from './money.ts';
import { forStandIn } from './request.ts';

/** What a model says, and the money of the model that says it. */
export interface CompletionAnswer {
  readonly source: AsyncIterator<ModelChunk>;
  /** Final once the source has given something; undefined before any credit is held. */
  readonly money: CompletionMoney | undefined;
}

/** Asks one model, once. */
export async function askOne(
  services: CompletionMoneyServices,
  call: Call,
  entry: CatalogueEntry,
  request: GenerateRequest,
): Promise<CompletionAnswer> {
  const money = await holdFor(services, call, entry, request, call.id);
  try {
    const chunks = await entry.provider.generate(request, { signal: call.signal });
    return { source: chunks[Symbol.asyncIterator](), money };
  } catch (error) {
    await money.release();
    throw error;
  }
}

/** Asks a model, and others in its place when it fails before its first word through no fault of the request. */
export function askInTurn(
  services: CompletionMoneyServices & AnsweringServices,
  call: Call,
  entry: CatalogueEntry,
  request: GenerateRequest,
  standIns: readonly CatalogueEntry[],
): CompletionAnswer {
  const leaving = new AbortController();
  let money: CompletionMoney | undefined;
  let holds = 0;
  let chunks: AsyncIterator<ModelChunk> | undefined;

  const begin = async (): Promise<IteratorResult<ModelChunk>> => {
    const answering = await askModels(services, {
      candidates: [entry, ...standIns],
      requestFor: (candidate) => (candidate === entry ? request : forStandIn(request, candidate)),
      async pay(candidate, wish) {
        const key = holds === 0 ? call.id : `${call.id}:${holds}`;
        holds += 1;
        money = await holdFor(services, call, candidate, wish, key);
        return money;
      },
      family: 'completions',
      operation: createCompletion.id,
      requestId: call.requestId,
      signal: AbortSignal.any([call.signal, leaving.signal]),
    });
    chunks = answering.chunks;
    return chunks.next();
  };

  return {
    source: {
      next: () => chunks?.next() ?? begin(),
      async return() {
        leaving.abort();
        await chunks?.return?.();
        return { done: true, value: undefined };
      },
    },
    get money() {
      return money;
    },
  };
}
