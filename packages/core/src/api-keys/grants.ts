import { toCredits } from '../credits/amounts.ts';
import { invalid } from '../errors.ts';
import type { ApiKeyRecord } from '../identity/records.ts';
import { isScope, OFFERED_SCOPES, SCOPE_PRESETS, type Scope, type ScopePreset } from '../identity/scopes.ts';
import type { WireApiKey } from './contract.ts';

/**
 * What a user may give to a key, from a list or a preset.
 * @throws ApiError 422 for both, neither, or a scope that is not the caller's to give.
 */
export function grantedScopes(
  wish: { readonly scopes?: readonly string[] | undefined; readonly preset?: ScopePreset | undefined },
  maker: { readonly isAdmin: boolean },
): readonly Scope[] {
  const { scopes, preset } = wish;
  if (scopes !== undefined && preset !== undefined)
    throw invalid('preset', 'send scopes or preset, not both');
  if (preset !== undefined) return SCOPE_PRESETS[preset];
  if (scopes === undefined) throw invalid('scopes', 'expected scopes or a preset');
  const at = scopes.findIndex((scope) => !mayGrant(scope, maker));
  if (at >= 0) throw invalid(`scopes.${at}`, 'this scope is unknown or not yours to grant');
  return [...new Set(scopes.filter(isScope))];
}

function mayGrant(scope: string, { isAdmin }: { readonly isAdmin: boolean }): boolean {
  return isScope(scope) && (OFFERED_SCOPES.includes(scope) || (isAdmin && scope === 'admin:*'));
}

/** @throws ApiError 422 when it is not in the future. */
export function expiryOf(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  const at = Date.parse(text);
  if (at <= now) throw invalid('expiresAt', 'expected a time in the future');
  return at;
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
    organizationId: record.organizationId,
    lastUsedAt: toTime(record.lastUsedAt),
    createdAt: new Date(record.createdAt).toISOString(),
  };
}

function toTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
