import type { ApiRequest, Observer } from '@questline/core';

/** Which operation a request turned out to be of. */
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
