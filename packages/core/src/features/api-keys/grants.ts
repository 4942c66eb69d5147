import {
  isScope,
  OFFERED_SCOPES,
  SCOPE_PRESETS,
  type Scope,
  type ScopePreset,
} from '../../contract/scopes.ts';
import { toCredits } from '../../credits/amounts.ts';
import type { ApiKeyRecord } from '../../identity/records.ts';
import { invalid } from '../../shared/errors.ts';
import type { WireApiKey } from './contract.ts';

/**
 * Resolves the scopes of a new key, from a list or a preset.
 * @throws ApiError 422 for both, neither, or a scope that the caller may not grant.
 */
export function grantedScopes(
  input: { readonly scopes?: readonly string[] | undefined; readonly preset?: ScopePreset | undefined },
  maker: { readonly isAdmin: boolean },
): readonly Scope[] {
  const { scopes, preset } = input;
  if (scopes !== undefined && preset !== undefined)
    throw invalid('preset', 'send scopes or preset, not both');
  if (preset !== undefined) return SCOPE_PRESETS[preset];
  if (scopes === undefined) throw invalid('scopes', 'expected scopes or a preset');
  const at = scopes.findIndex((scope) => !mayGrant(scope, maker));
  if (at >= 0) throw invalid(`scopes.${at}`, 'unknown scope, or you may not grant it');
  return [...new Set(scopes.filter(isScope))];
}

function mayGrant(scope: string, { isAdmin }: { readonly isAdmin: boolean }): boolean {
  return isScope(scope) && (OFFERED_SCOPES.includes(scope) || (isAdmin && scope === 'admin:*'));
}

export function toWireApiKey(record: ApiKeyRecord, now: number): WireApiKey {
  const { spendCap } = record;
  const isExpired = record.expiresAt !== null && record.expiresAt <= now;
  return {
    id: record.id,
    name: record.name,
    keyPrefix: record.keyPrefix,
    scopes: [...record.scopes],
    mode: record.mode,
    status: record.status === 'active' && isExpired ? 'expired' : record.status,
    expiresAt: toTime(record.expiresAt),
    rateLimit: { requestsPerMinute: record.requestsPerMinute, requestsPerDay: record.requestsPerDay },
    spendCap: spendCap && { credits: toCredits(spendCap.amount), period: spendCap.period },
    models: record.models ? [...record.models] : null,
    organizationId: record.organizationId,
    lastUsedAt: toTime(record.lastUsedAt),
    createdAt: new Date(record.createdAt).toISOString(),
  };
}

function toTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
