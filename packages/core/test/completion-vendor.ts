import type { CatalogueEntry } from '../src/models/catalogue.ts';
import type { GenerateRequest, ModelChunk } from '../src/ports/models.ts';
import { createScriptedAnswer } from './completion-stream.ts';
import { PRICED } from './paid-calls.ts';

/** The vendor of one model. It accepts a call at once, unless the test makes it wait or refuse. */
export function createVendor(model: string, log: string[]) {
  const answer = createScriptedAnswer<ModelChunk>(log, `cancel ${model}`);
  const refusals: Error[] = [];
  const requests: GenerateRequest[] = [];
  let accepting = Promise.resolve();
  const entry: CatalogueEntry = {
    ...PRICED,
    info: { ...PRICED.info, id: model },
    providerModel: model,
    provider: {
      id: `vendor of ${model}`,
      models: () => [],
      async generate(request, { signal }) {
        log.push(`ask ${model}`);
        requests.push(request);
        signal?.addEventListener('abort', () => log.push(`stop ${model}: ${signal.reason.message}`));
        await accepting;
        const refusal = refusals.shift();
        if (refusal !== undefined) throw refusal;
        return { [Symbol.asyncIterator]: () => answer };
      },
    },
  };
  return {
    entry,
    answer,
    requests,
    refuse: (error: Error) => void refusals.push(error),
    /** @returns accepts the calls. */
    wait(): () => void {
      let accept = (): void => undefined;
      accepting = new Promise((resolve) => {
        accept = resolve;
      });
      return () => accept();
    },
  };
}
