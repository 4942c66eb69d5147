import type { ApiRequest } from '@questline/core';
import type { Observer } from '@questline/core/ports';

/** The operation that each request was matched to. */
export interface Operations {
  readonly observer: Observer;
  of(request: ApiRequest): string | undefined;
}

export function createOperations(): Operations {
  const found = new WeakMap<ApiRequest, string>();
  return {
    observer: {
      request({ operation, request }, work) {
        found.set(request, operation.id);
        return work();
      },
    },
    of: (request) => found.get(request),
  };
}
