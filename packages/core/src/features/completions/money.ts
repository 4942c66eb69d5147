import { type Call, getPayer } from '../../contract/call.ts';
import type { ReservationServices } from '../../credits/reservations.ts';
import type { CatalogueEntry } from '../../models/catalogue.ts';
import { openPaidTextCall, type PaidTextCall } from '../../models/paid-text-call.ts';
import type { AdminSettings, AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { GenerateRequest } from '../../ports/models.ts';
import { ApiError, isApiError } from '../../shared/errors.ts';

export interface CompletionMoneyServices extends ReservationServices {
  readonly adminSettings: AdminSettingsReader;
  readonly completions: { readonly insufficientCreditsStatus: 422 | 403 };
}

/**
 * Holds the maximum cost of a call, under a key of its own.
 * @throws ApiError 422 `insufficient_credits` (or as the setting says), `spend_cap_exceeded`, `model_unavailable`,
 *   `context_length_exceeded`.
 */
export function holdFor(
  services: CompletionMoneyServices,
  call: Call,
  entry: CatalogueEntry,
  request: GenerateRequest,
  { operation, key }: { readonly operation: string; readonly key: string },
): Promise<PaidTextCall> {
  const hold = ({ enforceCredits: isMetered }: AdminSettings): Promise<PaidTextCall> => {
    const { requestId } = call;
    const about = { entry, key, payer: getPayer(call.caller), operation, requestId, isMetered };
    return openPaidTextCall(services, about, request).catch((error: unknown) => {
      throw refusal(error, services.completions.insufficientCreditsStatus);
    });
  };
  const current = services.adminSettings.current();
  return current instanceof Promise ? current.then(hold) : hold(current);
}

function refusal(error: unknown, status: 422 | 403): unknown {
  if (!isApiError(error) || error.code !== 'insufficient_credits') return error;
  return new ApiError(status, error.message, { code: error.code });
}
