import { context, INVALID_SPAN_CONTEXT, propagation, type Tracer, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { createTracing } from '@questline/opentelemetry';
import { onTestFinished, vi } from 'vitest';

export const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
export const PARENT = { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01` };

/** Installs what a host with traces installs. @returns what removes it. */
export function installTraces(): () => void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  return () => {
    context.disable();
    propagation.disable();
  };
}

/** A provider whose spans are recorded. */
export function setUp() {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  onTestFinished(() => tracerProvider.shutdown());
  return { tracing: createTracing({ tracerProvider }), spans: () => exporter.getFinishedSpans() };
}

/** A provider whose spans are not recorded. */
export function setUpUnrecorded() {
  const span = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
  const end = vi.spyOn(span, 'end');
  const startSpan = () => span;
  const tracer = { startSpan } as unknown as Tracer;
  return { tracing: createTracing({ tracerProvider: { getTracer: () => tracer } }), end };
}
