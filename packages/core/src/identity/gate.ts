import type { Caller } from '../call.ts';
import { ApiError } from '../errors.ts';
import type { Operation } from '../operation.ts';
import { CONFINED_SCOPES, type Scope } from './scopes.ts';

/**
 * Whether the caller's key may do this at all; signed-in users have no scopes and pass.
 * @throws ApiError 403 with the scopes that would do. Every-of is judged before any-of.
 */
export function checkScopes(operation: Operation, caller: Caller): void {
  if (caller.kind !== 'key') return;
  const also = operation.alsoScopes ?? [];
  const holds = (scope: Scope): boolean => caller.scopes.includes(scope);
  if (!also.every(holds)) throw scopeRefusal(operation, also);
  if (operation.scopes.length > 0 ? !operation.scopes.some(holds) : isConfined(caller.scopes)) {
    throw scopeRefusal(operation, also);
  }
}

function isConfined(scopes: readonly Scope[]): boolean {
  return scopes.some((scope) => CONFINED_SCOPES.includes(scope));
}

/** 403 with the scopes beside the message. Also for scopes that a body makes necessary. */
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
