import type { Configuration, ProviderName } from '../environment/configuration.ts';
import { type Check, type Finding, findings } from './finding.ts';

/** The endpoint that lists a provider's models, which is free, and the header of its key. */
interface ProviderEndpoint {
  readonly url: string;
  headers(key: string): Readonly<Record<string, string>>;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

const PROVIDER_ENDPOINTS: Readonly<Record<ProviderName, ProviderEndpoint>> = {
  anthropic: {
    url: 'https://api.anthropic.com/v1/models',
    headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  },
  openai: { url: 'https://api.openai.com/v1/models', headers: bearer },
  gemini: {
    url: 'https://generativelanguage.googleapis.com/v1beta/models',
    headers: (key) => ({ 'x-goog-api-key': key }),
  },
  xai: { url: 'https://api.x.ai/v1/models', headers: bearer },
  elevenlabs: { url: 'https://api.elevenlabs.io/v1/models', headers: (key) => ({ 'xi-api-key': key }) },
};

const TIMEOUT_MS = 10_000;

/** Requests the model list of every provider that has a key. */
export function getProviderChecks({
  providerKeys,
  openAIServer,
}: Pick<Configuration, 'providerKeys' | 'openAIServer'>): readonly Check[] {
  const hasOwnModels = openAIServer !== undefined && openAIServer.models !== 'openai';
  if (providerKeys.size === 0 && !hasOwnModels) {
    const message = 'no key is set: only models of users with their own keys are available';
    const advice = 'set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or XAI_API_KEY';
    return [async () => [{ subject: 'providers', state: 'warning', message, advice }]];
  }
  const keys = new Map<ProviderName, string | undefined>(providerKeys);
  if (hasOwnModels && !keys.has('openai')) keys.set('openai', undefined);
  return [...keys].map(([name, key]) => {
    const own =
      name === 'openai' && openAIServer !== undefined ? `${openAIServer.baseUrl}/models` : undefined;
    return () => findings(name, () => ask(name, own ?? PROVIDER_ENDPOINTS[name].url, key));
  });
}

async function ask(name: ProviderName, url: string, key: string | undefined): Promise<string | Finding> {
  const variable = `${name.toUpperCase()}_${key === undefined ? 'BASE_URL' : 'API_KEY'}`;
  const { host } = new URL(url);
  const wrong = (message: string, advice: string): Finding => ({
    subject: name,
    state: 'wrong',
    message: `${variable}: ${message}`,
    advice,
  });
  let status: number;
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const headers = key === undefined ? {} : PROVIDER_ENDPOINTS[name].headers(key);
    const answer = await fetch(url, { headers, signal, redirect: 'error' });
    await answer.body?.cancel();
    status = answer.status;
  } catch {
    // The error may quote the request.
    return wrong(`${host} is unreachable`, 'allow connections to it, or unset the key');
  }
  if (status === 401 || status === 403 || (name === 'gemini' && status === 400)) {
    return wrong(`${host} rejects the key (${status})`, 'create a new key there');
  }
  if (status === 429 || status >= 500) {
    const message = `${host} answers ${status}; the key could not be checked`;
    return { subject: name, state: 'warning', message, advice: 'try again later' };
  }
  return key === undefined ? `${host} answers` : `${host} accepts the key`;
}
