import type { TestApp } from './test-app.ts';

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
export const CLIENT_ID = 'questline-cli';

export interface Codes {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
}

export interface OAuthBody {
  readonly access_token?: string;
  readonly refresh_token?: string;
  readonly error?: string;
  readonly device_info?: Readonly<Record<string, string | null>>;
}

export interface OAuthAnswer {
  readonly status: number;
  readonly body: OAuthBody;
}

/** Starts the login of a device. */
export async function initiate(app: TestApp, from?: string, headers = {}): Promise<Codes> {
  const answer = await app.ask('POST', '/api/oauth/device/initiate', {
    credential: null,
    body: { client_id: CLIENT_ID },
    headers,
    ...(from !== undefined && { from }),
  });
  return (await answer.json()) as Codes;
}

/** Calls an OAuth endpoint. @param credential default: none. */
export async function oauth(
  app: TestApp,
  path: string,
  body: object,
  credential: string | null = null,
  from?: string,
): Promise<OAuthAnswer> {
  const answer = await app.ask('POST', `/api/oauth/${path}`, {
    credential,
    body,
    ...(from !== undefined && { from }),
  });
  return { status: answer.status, body: (await answer.json()) as OAuthBody };
}

export function poll(app: TestApp, codes: Codes): Promise<OAuthAnswer> {
  const body = { grant_type: DEVICE_GRANT, device_code: codes.device_code, client_id: CLIENT_ID };
  return oauth(app, 'device/token', body);
}

/** @param credential default: a token of the app's user. */
export async function decide(
  app: TestApp,
  userCode: string,
  action: 'approve' | 'deny' = 'approve',
  credential?: string,
): Promise<OAuthAnswer> {
  return oauth(app, 'device/verify', { user_code: userCode, action }, credential ?? (await app.token()));
}
