export type { ReadList, ReadListOptions } from './entry.ts';
export { readLiteLLM } from './lite-llm.ts';
export { readModelsDev } from './models-dev.ts';
export { readStoredModels } from './stored.ts';
