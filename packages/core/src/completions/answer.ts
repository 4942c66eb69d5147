import type { Call } from '../call.ts';
import { type AnsweringServices, askModels } from '../models/answering.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import type { GenerateRequest, ModelChunk } from '../ports/models.ts';
import { eventually } from '../streams.ts';
import { createCompletion } from './contract.ts';
import { type CompletionMoney, type CompletionMoneyServices, holdFor } from './money.ts';
import { forStandIn } from './request.ts';

/** What a model says, and the money of the model that says it. */
export interface CompletionAnswer {
  readonly source: AsyncIterator<ModelChunk>;
  /** Final once the source has given something; undefined before any credit is held. */
  readonly money: CompletionMoney | undefined;
}

/** Asks one model, once: with the first step of the source, so that the head of the answer waits for no provider. */
export async function askOne(
  services: CompletionMoneyServices,
  call: Call,
  entry: CatalogueEntry,
  request: GenerateRequest,
): Promise<CompletionAnswer> {
  const money = await holdFor(services, call, entry, request, call.id);
  const source = eventually(async () => {
    const chunks = await entry.provider.generate(request, { signal: call.signal });
    return chunks[Symbol.asyncIterator]();
  });
  return { source, money };
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

  const source = eventually(async () => {
    const { chunks } = await askModels(services, {
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
    return chunks;
  });

  return {
    source: {
      next: source.next,
      return() {
        leaving.abort();
        return source.return();
      },
    },
    get money() {
      return money;
    },
  };
}
