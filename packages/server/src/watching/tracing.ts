import type { Observer } from '@questline/core';

/**
 * Traces, for whoever has registered a tracer provider before the start, e.g. with `node --import`. Where OpenTelemetry
 * keeps what is registered is looked at by name, so that nothing of it is loaded when nobody uses it.
 */
export async function tracingObservers(): Promise<readonly Observer[]> {
  const registered: unknown = Reflect.get(globalThis, Symbol.for('opentelemetry.js.api.1'));
  if (typeof registered !== 'object' || registered === null || !('trace' in registered)) return [];
  const { createTracing } = await import('@questline/opentelemetry');
  return [createTracing()];
}
