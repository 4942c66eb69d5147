/** One metric, as scraped and as documented. */
export interface Metric {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly meaning: string;
  /** Buckets of a histogram, in seconds. */
  readonly buckets?: readonly number[];
}

const SHORT = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const LONG = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];

/**
 * All metrics of this server. Labels have few values: names of operations, models, providers and job kinds; never ids,
 * paths, users or addresses.
 */
export const METRICS = {
  questline_http_requests_total: {
    kind: 'counter',
    labels: ['operation', 'method', 'status'],
    meaning: 'answered requests; `operation` is `none` for a path outside the API',
  },
  questline_http_request_duration_seconds: {
    kind: 'histogram',
    labels: ['operation'],
    meaning: 'time from the arrival of a request to the last byte of its response',
    buckets: SHORT,
  },
  questline_http_requests_open: { kind: 'gauge', labels: [], meaning: 'open requests' },
  questline_http_streams_open: { kind: 'gauge', labels: [], meaning: 'open streaming responses' },
  questline_jobs: {
    kind: 'gauge',
    labels: ['state'],
    meaning: 'jobs of all processes: `ready`, `delayed`, `leased`',
  },
  questline_jobs_running: { kind: 'gauge', labels: ['kind'], meaning: 'running jobs of this process' },
  questline_job_duration_seconds: {
    kind: 'histogram',
    labels: ['kind', 'outcome'],
    meaning: 'duration of one job run: `done`, `again`, `failed`',
    buckets: LONG,
  },
  questline_model_calls_total: {
    kind: 'counter',
    labels: ['provider', 'kind', 'outcome'],
    meaning:
      'provider calls: `done`, `client_closed` (the client closed the connection), or the kind of error',
  },
  questline_model_first_part_seconds: {
    kind: 'histogram',
    labels: ['provider'],
    meaning: 'time from a provider call to the first part of its streamed answer',
    buckets: SHORT,
  },
  questline_model_call_duration_seconds: {
    kind: 'histogram',
    labels: ['provider', 'kind'],
    meaning: 'time from a provider call to the end of its answer',
    buckets: LONG,
  },
  questline_tokens_total: {
    kind: 'counter',
    labels: ['model', 'class'],
    meaning: 'tokens that were charged, or recorded while metering is off',
  },
  questline_credits_total: {
    kind: 'counter',
    labels: ['model', 'movement'],
    meaning: 'credits `held`, `settled`, `released`; releases of holds from other processes are not counted',
  },
  questline_usage_reports_rejected_total: {
    kind: 'counter',
    labels: ['model'],
    meaning: 'provider usage reports that are invalid, or exceed the charged amount',
  },
  questline_failures_total: {
    kind: 'counter',
    labels: ['operation'],
    meaning: 'failures of responses and of background work; each is logged',
  },
  questline_dependency_up: {
    kind: 'gauge',
    labels: ['part'],
    meaning: '1 while `store`, `queue`, `ledger`, `objects`, `redis` answer within two seconds',
  },
} as const satisfies Readonly<Record<string, Metric>>;

export type MetricName = keyof typeof METRICS;
