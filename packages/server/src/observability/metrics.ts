import { microCreditsPerCredit } from '@questline/core/internal';
import type { CreditMovement, JobQueue, ModelCallEnd, Observer } from '@questline/core/ports';
import { isProviderError } from '@questline/core/ports';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { createLabels } from './labels.ts';
import { METRICS, type Metric, type MetricName } from './metrics-table.ts';
import type { Readiness } from './readiness.ts';
import type { RequestsObserver } from './requests.ts';

/** The metrics of one server. Two servers in one process share nothing. */
export interface Metrics {
  readonly observer: Observer;
  readonly requests: RequestsObserver;
  failed(operation: string): void;
  /** The metrics in the Prometheus text format. Gauges of shared state are read on each call. */
  scrape(surroundings: {
    readonly queue: JobQueue;
    readonly readiness: Readiness;
  }): Promise<{ readonly type: string; readonly text: string }>;
  close(): void;
}

const TOKEN_CLASSES = ['input', 'output', 'cachedInput', 'cacheWrite', 'reasoning'] as const;

/** @param now a monotonic clock, in seconds. */
export function createMetrics(now: () => number = () => performance.now() / 1000): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const about = (name: MetricName) => {
    const { meaning, labels, buckets }: Metric = METRICS[name];
    return {
      name,
      help: meaning,
      labelNames: labels,
      registers: [registry],
      ...(buckets !== undefined && { buckets: [...buckets] }),
    };
  };
  const requests = new Counter(about('questline_http_requests_total'));
  const requestSeconds = new Histogram(about('questline_http_request_duration_seconds'));
  const openRequests = new Gauge(about('questline_http_requests_open'));
  const openStreams = new Gauge(about('questline_http_streams_open'));
  const jobs = new Gauge(about('questline_jobs'));
  const jobsRunning = new Gauge(about('questline_jobs_running'));
  const jobSeconds = new Histogram(about('questline_job_duration_seconds'));
  const modelCalls = new Counter(about('questline_model_calls_total'));
  const firstPart = new Histogram(about('questline_model_first_part_seconds'));
  const modelSeconds = new Histogram(about('questline_model_call_duration_seconds'));
  const tokens = new Counter(about('questline_tokens_total'));
  const credits = new Counter(about('questline_credits_total'));
  const rejectedReports = new Counter(about('questline_usage_reports_rejected_total'));
  const failures = new Counter(about('questline_failures_total'));
  const partUp = new Gauge(about('questline_dependency_up'));
  const models = createLabels();

  const countCredit = ({ kind, amount, model: id, usage }: CreditMovement): void => {
    const model = models.of(id);
    if (kind !== 'recorded') credits.inc({ model, movement: kind }, amount / microCreditsPerCredit);
    for (const name of TOKEN_CLASSES) {
      const count = usage?.[name] ?? 0;
      if (count > 0) tokens.inc({ model, class: name }, count);
    }
  };

  return {
    observer: {
      async job({ kind }, work) {
        const began = now();
        jobsRunning.inc({ kind });
        let outcome = 'failed';
        try {
          const again = await work();
          outcome = again === undefined ? 'done' : 'again';
          return again;
        } finally {
          jobsRunning.dec({ kind });
          jobSeconds.observe({ kind, outcome }, now() - began);
        }
      },
      modelCall({ provider, kind }) {
        const began = now();
        return {
          began: () => firstPart.observe({ provider }, now() - began),
          ended(end) {
            modelCalls.inc({ provider, kind, outcome: toOutcome(end) });
            modelSeconds.observe({ provider, kind }, now() - began);
          },
        };
      },
      credit: countCredit,
      usageRejected: ({ model }) => rejectedReports.inc({ model: models.of(model) }),
    },
    requests: {
      opened: () => openRequests.inc(),
      streamed: () => openStreams.inc(),
      ended({ operation = 'none', method, status, ms, streamed }) {
        openRequests.dec();
        if (streamed) openStreams.dec();
        requests.inc({ operation, method, status });
        requestSeconds.observe({ operation }, ms / 1000);
      },
    },
    failed: (operation) => failures.inc({ operation }),
    async scrape({ queue, readiness }) {
      const { failing } = await readiness.check();
      for (const part of readiness.parts) partUp.set({ part }, failing.includes(part) ? 0 : 1);
      jobs.reset();
      if (!failing.includes('queue')) {
        const counts = await queue.counts().catch(() => undefined);
        for (const state of ['ready', 'delayed', 'leased'] as const) {
          if (counts !== undefined) jobs.set({ state }, counts[state]);
        }
      }
      return { type: registry.contentType, text: await registry.metrics() };
    },
    close: () => registry.clear(),
  };
}

function toOutcome({ outcome, error }: ModelCallEnd): string {
  return outcome === 'failed' && isProviderError(error) ? error.kind : outcome;
}
