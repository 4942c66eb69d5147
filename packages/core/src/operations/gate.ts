import type { Caller } from '../contract/call.ts';
import type { Operation } from '../contract/operation.ts';
import { CONFINED_SCOPES, type Scope } from '../contract/scopes.ts';
import { ApiError, forbidden } from '../shared/errors.ts';

/**
 * Checks the scopes of an API key, or of a user whom the host narrows to scopes; other users have no scopes and pass.
 * @throws ApiError 403 with the required scopes. Checks `all` scopes before `any` scopes.
 */
export function checkScopes(operation: Operation, caller: Caller): void {
  const { scopes } = caller;
  if (scopes === undefined) return;
  const also = operation.alsoScopes ?? [];
  const holds = (scope: Scope): boolean => scopes.includes(scope);
  if (!also.every(holds)) throw scopeRefusal(operation, also);
  if (operation.scopes.length > 0 ? !operation.scopes.some(holds) : isConfined(scopes)) {
    throw scopeRefusal(operation, also);
  }
  if (caller.kind === 'token' && operation.auth === 'token') throw narrowed();
}

/** A user with limits of the host creates no credential without these limits. @throws ApiError 403. */
export function requireUnlimited(caller: Caller): void {
  if (caller.kind !== 'token') return;
  const { requestsPerMinute, requestsPerDay, spendCap, modelLists } = caller;
  const ownModels = modelLists?.find(({ source }) => source === 'identity');
  const limits = [requestsPerMinute, requestsPerDay, spendCap, ownModels];
  if (limits.some((limit) => limit !== undefined)) throw narrowed();
}

function narrowed(): ApiError {
  return forbidden('Your sign-in is limited and may not do this');
}

function isConfined(scopes: readonly Scope[]): boolean {
  return scopes.some((scope) => CONFINED_SCOPES.includes(scope));
}

/** Creates a 403 with the required scopes. Also used for scopes that depend on the body. */
function scopeRefusal(operation: Operation, also: readonly Scope[]): ApiError {
  const message =
    operation.family === 'completions'
      ? 'API key does not have permission for AI completions'
      : 'API key does not have the scopes this operation requires';
  return new ApiError(403, message, {
    extra: {
      required_scopes: operation.scopes,
      ...(also.length > 0 && { also_required_scopes: also }),
    },
  });
}
