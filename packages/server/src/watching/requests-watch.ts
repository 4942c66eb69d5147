/** How one request went, for the log and for the metrics. */
export interface RequestFacts {
  /** Absent: it was no operation of the api. */
  readonly operation: string | undefined;
  readonly method: string;
  /** 0 when the client left before there was one. */
  readonly status: number;
  readonly ms: number;
  readonly streamed: boolean;
}

/** Told of every request of a server. */
export interface RequestsWatch {
  opened(): void;
  /** Its answer begins to be streamed. */
  streamed(): void;
  ended(facts: RequestFacts): void;
}
