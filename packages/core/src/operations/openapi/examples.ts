/** A request that was sent, and the answer to it. */
export interface OperationExamples {
  readonly request?: {
    readonly params?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, string>>;
    readonly body?: unknown;
  };
  readonly response: {
    readonly status: number;
    /** JSON as a value, other text as it was sent. Absent: no body, or bytes. */
    readonly body?: unknown;
  };
}
