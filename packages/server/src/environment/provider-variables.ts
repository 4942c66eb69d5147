import { choice, flag, matching, optionalWhole, parsed, url, WEB } from './fields.ts';
import { readFallbacks, readNames, readPrices } from './forms.ts';

const MAX_MS = 2 ** 31 - 1;
/** A key is sent in a header. */
const PRINTABLE = /^[\x21-\x7e]+$/;

const key = (meaning: string) => matching(PRINTABLE, 'printable ASCII without spaces', { meaning });
const timeout = (fallback: string, meaning: string) =>
  optionalWhole({ min: 0, max: MAX_MS }, { fallback, meaning });

/** The providers, their models and connections. */
export const providerVariables = {
  ANTHROPIC_API_KEY: key('enables the models of Anthropic'),
  OPENAI_API_KEY: key('enables the models of OpenAI'),
  OPENAI_BASE_URL: url(WEB, { meaning: 'a server that replaces OpenAI: a gateway or a compatible server' }),
  OPENAI_PROTOCOL: choice(['responses', 'chat'], {
    fallback: 'chat',
    meaning: 'protocol of that server: responses (the Responses API) or chat (chat completions)',
  }),
  OPENAI_MODELS: parsed(readNames, 'list, or distinct names separated by commas', {
    fallback: 'the models of OpenAI',
    meaning: 'models of that server: names separated by commas, or list for its own model list; needs no key',
  }),
  OPENAI_CONTEXT_WINDOW: optionalWhole(
    { min: 0, max: 100_000_000 },
    {
      fallback: '8192',
      meaning: 'context window of those models in tokens, if the server does not report it',
    },
  ),
  OPENAI_TOOLS: flag(true, { meaning: 'whether those models can call tools' }),
  OPENAI_PRICES: parsed(readPrices, 'INPUT/OUTPUT in USD per million tokens, e.g. 0/0', {
    meaning:
      'prices of those models, as INPUT/OUTPUT in USD per million tokens; required while credits are enforced',
  }),
  OPENAI_MAX_TOKENS_PARAMETER: choice(['max_tokens', 'max_completion_tokens'], {
    fallback: 'by protocol and model',
    meaning: 'request field that limits the output tokens: max_tokens or max_completion_tokens',
  }),
  GEMINI_API_KEY: key('enables the models of Google Gemini'),
  XAI_API_KEY: key('enables the models of xAI'),
  ELEVENLABS_API_KEY: key('enables speech, sound effects and music of ElevenLabs'),
  MODEL_FALLBACKS: parsed(readFallbacks, 'MODEL=FALLBACK,FALLBACK; several models separated by semicolons', {
    fallback: 'none',
    meaning:
      'models that answer when another fails before its first word: MODEL=FALLBACK,FALLBACK, separated by semicolons',
  }),
  BRAVE_API_KEY: key('enables web search by Brave'),
  PROVIDER_CONNECTIONS: optionalWhole(
    { min: 1, max: MAX_MS },
    {
      fallback: 'no limit',
      meaning: 'maximum connections to each provider',
    },
  ),
  PROVIDER_CONNECT_TIMEOUT_MS: timeout(
    '10000',
    'timeout for opening a connection to a provider; 0: no limit',
  ),
  PROVIDER_FIRST_BYTE_TIMEOUT_MS: timeout(
    '900000 at OpenAI and xAI, 1200000 at Gemini, otherwise 120000',
    'timeout for the first byte of a provider response; 0: no limit',
  ),
  PROVIDER_IDLE_TIMEOUT_MS: timeout(
    '900000 at OpenAI and xAI, 1200000 at Gemini, otherwise 300000',
    'timeout between two parts of a provider response; 0: no limit',
  ),
  PROVIDER_KEEP_ALIVE_MS: timeout('30000', 'how long an idle connection to a provider stays open'),
};
