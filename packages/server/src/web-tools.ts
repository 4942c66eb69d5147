import type { TextExtractor, WebTools } from '@questline/core/ports';

/**
 * Web pages, weather and search for model tools, imported at first use: the start loads no HTTP client.
 * @param braveApiKey absent: no search.
 * @param extractors read documents at addresses.
 */
export function createLazyWebTools(
  braveApiKey: string | undefined,
  extractors: readonly TextExtractor[],
): WebTools {
  let loading: ReturnType<typeof load> | undefined;
  const tools = (): ReturnType<typeof load> => {
    loading ??= load(braveApiKey, extractors);
    return loading;
  };
  return {
    ...(braveApiKey !== undefined && {
      search: async (...call) => (await (await tools()).search?.(...call)) ?? [],
    }),
    fetchPage: async (...call) => (await tools()).fetchPage(...call),
    fetchFile: async (...call) => (await tools()).fetchFile(...call),
    weather: async (...call) => (await tools()).weather(...call),
  };
}

async function load(braveApiKey: string | undefined, extractors: readonly TextExtractor[]) {
  const { createWebTools } = await import('@questline/providers/web');
  return createWebTools({ extractors, ...(braveApiKey !== undefined && { braveApiKey }) });
}
