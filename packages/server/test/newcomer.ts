import type { Running } from './command.ts';

export async function post<T>(url: string, path: string, body: object): Promise<T> {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await answer.json()) as T;
}

export interface SignedIn {
  readonly user?: { readonly _id: string; readonly isAdmin: boolean };
  readonly accessToken?: string;
  readonly error?: { readonly code: string };
}

/** Signs up at a server that prints its codes in the terminal. */
export async function signUp(
  running: Running,
  url: string,
  email: string,
  more: { readonly username?: string; readonly inviteCode?: string } = {},
): Promise<SignedIn> {
  const { pendingToken } = await post<{ pendingToken: string }>(url, '/api/otc/send', { email });
  const [, code] = await running.until(new RegExp(`Mail for ${email}: [^\\n]* is (\\d{6})\\.`));
  const username = email.split('@')[0];
  return post<SignedIn>(url, '/api/otc/verify', { email, code, pendingToken, username, ...more });
}

/** The status of a request with a credential. */
export async function statusFor(url: string, credential: string): Promise<number> {
  const headers = { authorization: `Bearer ${credential}` };
  return (await fetch(`${url}/api/v1/me`, { headers })).status;
}
