import type { Configuration, ProviderName } from '../environment/configuration.ts';
import { type Finding, findings, type Look } from './finding.ts';

/** Where a provider lists its models, which costs nothing, and how it wants the key. */
interface Door {
  readonly url: string;
  headers(key: string): Readonly<Record<string, string>>;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

const DOORS: Readonly<Record<ProviderName, Door>> = {
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

/** Asks every provider that has a key for its models. */
export function looksAtProviders({
  providerKeys,
  openAIBaseUrl,
}: Pick<Configuration, 'providerKeys' | 'openAIBaseUrl'>): readonly Look[] {
  if (providerKeys.size === 0) {
    const message = 'none has a key, so there are no models but those of users with keys of their own';
    const advice = 'set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or XAI_API_KEY';
    return [async () => [{ subject: 'providers', state: 'warning', message, advice }]];
  }
  return [...providerKeys].map(([name, key]) => {
    const own = name === 'openai' && openAIBaseUrl !== undefined ? `${openAIBaseUrl}/models` : undefined;
    return () => findings(name, () => ask(name, own ?? DOORS[name].url, key));
  });
}

async function ask(name: ProviderName, url: string, key: string): Promise<string | Finding> {
  const variable = `${name.toUpperCase()}_API_KEY`;
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
    const answer = await fetch(url, { headers: DOORS[name].headers(key), signal, redirect: 'error' });
    await answer.body?.cancel();
    status = answer.status;
  } catch {
    // Whatever was thrown may quote the request.
    return wrong(`${host} cannot be reached`, 'let this machine reach it, or leave the key out');
  }
  if (status === 401 || status === 403 || (name === 'gemini' && status === 400)) {
    return wrong(`${host} refuses the key (${status})`, 'make a new key there');
  }
  if (status === 429 || status >= 500) {
    const message = `${host} answers ${status}; the key could not be tried`;
    return { subject: name, state: 'warning', message, advice: 'try again later' };
  }
  return `${host} takes the key`;
}
