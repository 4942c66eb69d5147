import type { TextExtractor, WebTools } from '@questline/core/ports';
import { isPublicAddress } from './addresses.ts';
import { createFetchFile } from './fetch-file.ts';
import { createFetchPage } from './fetch-page.ts';

export { createGuardedFetch, type GuardedFetch, type GuardedFetchOptions } from './guarded-fetch.ts';
export { createWebhookSender, type WebhookSenderOptions } from './webhook-sender.ts';

import { createBraveSearch, createOpenMeteoWeather } from './services.ts';

export interface WebToolsOptions {
  /** Key of Brave's search API. Absent: no web search. */
  readonly braveApiKey?: string;
  /** Timeout per call, including redirects. Default 10,000 ms. */
  readonly timeoutMs?: number;
  /**
   * Which addresses pages may be fetched from. Default: those of the open internet. Widen it only for hosts whose
   * content every caller may see.
   */
  readonly isAllowedAddress?: (address: string) => boolean;
  /**
   * Extractors of the text of documents at addresses, such as `createDocumentExtractor()` of `@questline/documents` for PDF files.
   * Default: documents are refused.
   */
  readonly extractors?: readonly TextExtractor[];
  /** For proxies and tests. */
  readonly searchUrl?: string;
  /** For proxies and tests. */
  readonly weatherUrl?: string;
}

/** The web for Questline's tools: pages, weather, and with a key also search. */
export function createWebTools(
  options: WebToolsOptions = {},
): WebTools & Required<Pick<WebTools, 'fetchPage' | 'fetchFile' | 'weather'>> {
  const { timeoutMs = 10_000, braveApiKey, extractors = [] } = options;
  const searchUrl = options.searchUrl ?? 'https://api.search.brave.com';
  const isAllowed = options.isAllowedAddress ?? isPublicAddress;
  return {
    fetchPage: createFetchPage(isAllowed, timeoutMs, extractors),
    fetchFile: createFetchFile(isAllowed, timeoutMs),
    weather: createOpenMeteoWeather(options.weatherUrl ?? 'https://api.open-meteo.com', timeoutMs),
    ...(braveApiKey ? { search: createBraveSearch(braveApiKey, searchUrl, timeoutMs) } : {}),
  };
}
