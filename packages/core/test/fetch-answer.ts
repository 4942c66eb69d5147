import type { ApiRequest, ApiResponse } from '../src/contract/message.ts';
import { type FetchInfo, toFetchHandler } from '../src/http/fetch.ts';

/** Sends a request to an API with one response. */
export async function sendToFetch(
  response: ApiResponse | undefined | Error,
  { url = 'http://host/a', method = 'GET', mountPath, info, signal }: SendOptions = {},
) {
  const seen: ApiRequest[] = [];
  const api = {
    async handle(request: ApiRequest) {
      seen.push(request);
      if (response instanceof Error) throw response;
      return response;
    },
  };
  const handle = mountPath === undefined ? toFetchHandler(api) : toFetchHandler(api, { mountPath });
  const request = new Request(url, { method, ...(signal !== undefined && { signal }) });
  return { seen, answer: await (info === undefined ? handle(request) : handle(request, info)) };
}

export interface SendOptions {
  readonly url?: string;
  readonly method?: string;
  readonly mountPath?: string;
  readonly info?: FetchInfo;
  readonly signal?: AbortSignal;
}

export const toResponse = (body: ApiResponse['body'], more: Partial<ApiResponse> = {}): ApiResponse => ({
  ...{ status: 200, headers: { 'content-type': 'text/plain' }, body },
  ...more,
});
