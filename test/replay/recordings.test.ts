import { createAnthropicProvider } from '@questline/providers/anthropic';
import { createOpenAICompatibleProvider } from '@questline/providers/compatible';
import { createGeminiProvider } from '@questline/providers/gemini';
import { createOpenAIProvider } from '@questline/providers/openai';
import { createXAIProvider } from '@questline/providers/xai';
import { replaySuite } from '@questline/testing';

const apiKey = 'a-key';

// QUESTLINE_RECORDINGS: a folder with your own recordings, in the same subfolders.
const { QUESTLINE_RECORDINGS, QUESTLINE_RECORDING_CUTS } = process.env;

await replaySuite({
  folder: QUESTLINE_RECORDINGS ?? new URL('recordings', import.meta.url).pathname,
  providers: {
    anthropic: (baseUrl) => createAnthropicProvider({ apiKey, baseUrl }),
    compatible: (baseUrl) => createOpenAICompatibleProvider({ id: 'local', baseUrl, models: ['any'] }),
    gemini: (baseUrl) => createGeminiProvider({ apiKey, baseUrl }),
    openai: (baseUrl) => createOpenAIProvider({ apiKey, baseUrl }),
    xai: (baseUrl) => createXAIProvider({ apiKey, baseUrl }),
  },
  ...(QUESTLINE_RECORDING_CUTS !== undefined && { maxCuts: Number(QUESTLINE_RECORDING_CUTS) }),
});
