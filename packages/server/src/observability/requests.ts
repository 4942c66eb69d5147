/** The outcome of one request, for the log and the metrics. */
export interface RequestFacts {
  /** Absent: the path is outside the API. */
  readonly operation: string | undefined;
  readonly method: string;
  /** 0 when the client disconnected before the response. */
  readonly status: number;
  readonly ms: number;
  readonly streamed: boolean;
}

/** Receives every request of a server. */
export interface RequestsObserver {
  opened(): void;
  /** The response begins to stream. */
  streamed(): void;
  ended(facts: RequestFacts): void;
}
