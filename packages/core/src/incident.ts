/** What went wrong behind an answer. `error` is for operators and may hold provider text; no client ever sees it. */
export interface Incident {
  readonly operation: string;
  readonly requestId: string;
  readonly error: unknown;
}
