import type { Auth } from '../../contract/operation.ts';
import type { JsonSchema } from './schemas.ts';

const bearerAuth = {
  type: 'http',
  scheme: 'bearer',
  description:
    'An API key: `Authorization: Bearer svc_live_...`. `Authorization: ApiKey svc_live_...` means the same.',
};
const apiKeyAuth = {
  type: 'apiKey',
  in: 'header',
  name: 'x-api-key',
  description: 'Older scheme, equivalent to `bearerAuth`.',
};
const jwtAuth = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description: 'The access token of a signed-in user. It has no scopes and passes every scope check.',
};

/** The security schemes that operations use. */
export function toSecuritySchemes(used: readonly Auth[]): Readonly<Record<string, JsonSchema>> {
  return {
    ...(used.includes('key-or-token') && { bearerAuth, apiKeyAuth }),
    ...(used.some((auth) => auth !== 'none') && { jwtAuth }),
  };
}

/** The alternatives of one operation. */
export function toSecurity(auth: Auth): readonly JsonSchema[] {
  switch (auth) {
    case 'key-or-token':
      return [{ bearerAuth: [] }, { apiKeyAuth: [] }, { jwtAuth: [] }];
    case 'token':
      return [{ jwtAuth: [] }];
    case 'none':
      return [];
  }
}
