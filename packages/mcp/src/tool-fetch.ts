import type { FetchLike } from '@modelcontextprotocol/client';

/** Maximum length of a refusal, in bytes; the rest is not read. */
const MAX_REFUSAL = 2 ** 20;
/** Shorter values of headers are no secrets. */
const MIN_SECRET = 8;

/** A `fetch` for one tool server and one credential. */
export interface ToolFetch {
  readonly fetch: FetchLike;
  /** The token of the request that an answer is for: requests at the same time may have different ones. */
  getToken(response: Response): string | undefined;
}

/** @param headers the headers of the credential: refusals do not repeat them, nor the token. */
export function createToolFetch(headers: Readonly<Record<string, string>>): ToolFetch {
  const sent = new WeakMap<Response, string>();
  return {
    getToken: (response) => sent.get(response),
    async fetch(url, init) {
      const authorization = new Headers(init?.headers).get('authorization') ?? '';
      const token = /^Bearer (.+)$/i.exec(authorization)?.[1];
      const answer = await fetch(url, init);
      const secrets = [authorization, ...Object.values(headers)].flatMap((value) => [
        value,
        ...value.split(' '),
      ]);
      const response = answer.status < 400 ? answer : await withoutSecrets(answer, secrets);
      if (token !== undefined) sent.set(response, token);
      return response;
    },
  };
}

/** Errors contain the text of a refusal. */
async function withoutSecrets(answer: Response, secrets: readonly string[]): Promise<Response> {
  const { status, statusText, headers } = answer;
  let text = await readStart(answer);
  for (const secret of secrets) if (secret.length >= MIN_SECRET) text = text.replaceAll(secret, '[secret]');
  const kept = new Headers(headers);
  for (const name of ['content-length', 'content-encoding']) kept.delete(name);
  return new Response(text, { status, statusText, headers: kept });
}

async function readStart({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= MAX_REFUSAL) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}
