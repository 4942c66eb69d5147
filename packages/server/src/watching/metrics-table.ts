/** One metric, as it is scraped and as the documentation shows it. */
export interface Metric {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly meaning: string;
  /** Of a histogram, in seconds. */
  readonly buckets?: readonly number[];
}

const SHORT = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const LONG = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];

/**
 * Every metric of our own. Labels have few values: names of operations, models, providers and kinds of jobs, which the
 * code and the configuration know; never ids, paths, users or addresses.
 */
export const METRICS = {
  questline_http_requests_total: {
    kind: 'counter',
    labels: ['operation', 'method', 'status'],
    meaning: 'requests answered; `operation` is `none` for what is no operation of the API',
  },
  questline_http_request_duration_seconds: {
    kind: 'histogram',
    labels: ['operation'],
    meaning: 'from a request’s arrival to the last byte of its answer',
    buckets: SHORT,
  },
  questline_http_requests_open: { kind: 'gauge', labels: [], meaning: 'requests under way' },
  questline_http_streams_open: { kind: 'gauge', labels: [], meaning: 'answers that are being streamed' },
  questline_jobs: {
    kind: 'gauge',
    labels: ['state'],
    meaning: 'jobs of all processes: `ready`, `delayed`, `leased`',
  },
  questline_jobs_running: { kind: 'gauge', labels: ['kind'], meaning: 'jobs that run in this process' },
  questline_job_duration_seconds: {
    kind: 'histogram',
    labels: ['kind', 'outcome'],
    meaning: 'one run of a job: `done`, `again`, `failed`',
    buckets: LONG,
  },
  questline_model_calls_total: {
    kind: 'counter',
    labels: ['provider', 'kind', 'outcome'],
    meaning: 'questions to providers: `done`, `left`, or what went wrong',
  },
  questline_model_first_part_seconds: {
    kind: 'histogram',
    labels: ['provider'],
    meaning: 'from a question to the first of a streamed answer',
    buckets: SHORT,
  },
  questline_model_call_duration_seconds: {
    kind: 'histogram',
    labels: ['provider', 'kind'],
    meaning: 'from a question to the last of its answer',
    buckets: LONG,
  },
  questline_tokens_total: {
    kind: 'counter',
    labels: ['model', 'class'],
    meaning: 'tokens that were paid for, or written down while metering is off',
  },
  questline_credits_total: {
    kind: 'counter',
    labels: ['model', 'movement'],
    meaning: 'credits `held`, `settled`, `released`; what another process held is released unseen',
  },
  questline_failures_total: {
    kind: 'counter',
    labels: ['operation'],
    meaning: 'failures behind an answer, or behind work without one, as they stand in the log',
  },
  questline_part_up: {
    kind: 'gauge',
    labels: ['part'],
    meaning: '1 while `store`, `queue`, `ledger`, `objects`, `redis` answer within two seconds',
  },
} as const satisfies Readonly<Record<string, Metric>>;

export type MetricName = keyof typeof METRICS;
