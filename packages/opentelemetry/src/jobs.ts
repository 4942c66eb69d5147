import { context, propagation, ROOT_CONTEXT, SpanKind, type Tracer, trace } from '@opentelemetry/api';
import type { ObservedJob, RunAgain } from '@questline/core';
import { fail } from './failure.ts';

/** Of all that a propagator writes: what else a caller sent along stays out of the queue. */
const CARRIED = ['traceparent', 'tracestate'] as const;

/** A span for one run of a job, in the trace it was enqueued in. */
export async function traceJob(
  tracer: Tracer,
  { kind, attempt, carried }: ObservedJob,
  work: () => Promise<RunAgain | undefined>,
): Promise<RunAgain | undefined> {
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

/** The trace that is under way now, in the words of the W3C. */
export function carryTrace(): Record<string, string> {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  const kept = CARRIED.map((name) => [name, carrier[name]]).filter((entry) => entry[1] !== undefined);
  return Object.fromEntries(kept);
}
