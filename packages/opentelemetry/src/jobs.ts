import { context, propagation, ROOT_CONTEXT, SpanKind, type Tracer, trace } from '@opentelemetry/api';
import type { ObservedJob, Reschedule } from '@questline/core/ports';
import { fail } from './failure.ts';

/** The only propagated headers: other baggage of the caller stays out of the queue. */
const TRACE_CONTEXT = ['traceparent', 'tracestate'] as const;

/** A span for one run of a job, in the trace it was enqueued in. */
export async function traceJob(
  tracer: Tracer,
  { kind, attempt, carried }: ObservedJob,
  work: () => Promise<Reschedule | undefined>,
): Promise<Reschedule | undefined> {
  const parent = propagation.extract(ROOT_CONTEXT, carried);
  const span = tracer.startSpan(
    `process ${kind}`,
    {
      kind: SpanKind.CONSUMER,
      attributes: {
        'messaging.system': 'questline',
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.destination.name': kind,
        'questline.job.attempt': attempt,
      },
    },
    parent,
  );
  try {
    const again = await context.with(trace.setSpan(parent, span), work);
    span.setAttribute('questline.job.outcome', again === undefined ? 'done' : 'again');
    return again;
  } catch (error) {
    fail(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** The current trace context, in the W3C format. */
export function carryTrace(): Record<string, string> {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  const kept = TRACE_CONTEXT.map((name) => [name, carrier[name]]).filter((entry) => entry[1] !== undefined);
  return Object.fromEntries(kept);
}
