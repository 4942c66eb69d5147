import type { WebTools } from '@questline/core/ports';

/**
 * Web pages, weather and search for model tools, imported at first use: the start loads no HTTP client.
 * @param braveApiKey absent: no search.
 */
export function createLazyWebTools(braveApiKey: string | undefined): WebTools {
  let loading: ReturnType<typeof load> | undefined;
  const tools = (): ReturnType<typeof load> => {
    loading ??= load(braveApiKey);
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

async function load(braveApiKey: string | undefined) {
  const { createWebTools } = await import('@questline/providers/web');
  return createWebTools(braveApiKey === undefined ? {} : { braveApiKey });
}
