/**
 * The setup of a host with traces, loaded with `--import`: writes every span to standard error as one line.
 */
import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';

const exporter = {
  export(spans: readonly ReadableSpan[], done: (result: { code: number }) => void): void {
    for (const { name, attributes, parentSpanContext } of spans) {
      const { traceId, spanId } = spans[0]?.spanContext() ?? {};
      const parent = parentSpanContext?.spanId;
      process.stderr.write(`span ${JSON.stringify({ name, traceId, spanId, parent, attributes })}\n`);
    }
    done({ code: 0 });
  },
  shutdown: async () => undefined,
};

trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }),
);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
propagation.setGlobalPropagator(new W3CTraceContextPropagator());
