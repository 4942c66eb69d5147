import { type TracerProvider, trace } from '@opentelemetry/api';
import type { Observer } from '@questline/core/ports';
import { carryTrace, traceJob } from './jobs.ts';
import { traceModelCall } from './model-calls.ts';
import { traceRequest } from './requests.ts';

export interface TracingOptions {
  /** Default: the one that is registered, now or later. Nothing is ever registered here. */
  readonly tracerProvider?: TracerProvider;
}

/**
 * Spans for `createServices(ports, { observers: [createTracing()] })`: one per request, one per run of a job, which
 * stands in the trace of the request that it was enqueued by, and one per question to a provider within them. Spans hold
 * names, counts and outcomes; never prompts, answers, paths with ids in them, or keys.
 */
export function createTracing({ tracerProvider = trace.getTracerProvider() }: TracingOptions = {}): Observer {
  const tracer = tracerProvider.getTracer('@questline/opentelemetry');
  return {
    request: (facts, work) => traceRequest(tracer, facts, work),
    job: (job, work) => traceJob(tracer, job, work),
    modelCall: (call) => traceModelCall(tracer, call),
    getTraceContext: carryTrace,
  };
}
