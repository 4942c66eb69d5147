/**
 * An internal failure, for the host's log. `error` is for operators and may contain provider text; clients never see
 * it.
 */
export interface Incident {
  readonly operation: string;
  readonly requestId: string;
  readonly error: unknown;
}
