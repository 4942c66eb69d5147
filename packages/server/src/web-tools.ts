import type { WebTools } from '@questline/core';

/** Pages and weather for the tools of models, loaded at their first use: a start needs no HTTP client. */
export function createLazyWebTools(): WebTools {
  let loading: ReturnType<typeof load> | undefined;
  const tools = (): ReturnType<typeof load> => {
    loading ??= load();
    return loading;
  };
  return {
    fetchPage: async (...call) => (await tools()).fetchPage(...call),
    fetchFile: async (...call) => (await tools()).fetchFile(...call),
    weather: async (...call) => (await tools()).weather(...call),
  };
}

async function load() {
  const { createWebTools } = await import('@questline/providers/web');
  return createWebTools();
}
