import type { Observer } from '@questline/core/ports';

/**
 * Traces, if a tracer provider is registered before the start, e.g. with `node --import`. Reads OpenTelemetry's global
 * registration by name, so that nothing is imported when tracing is off.
 */
export async function tracingObservers(): Promise<readonly Observer[]> {
  const registered: unknown = Reflect.get(globalThis, Symbol.for('opentelemetry.js.api.1'));
  if (typeof registered !== 'object' || registered === null || !('trace' in registered)) return [];
  const { createTracing } = await import('@questline/opentelemetry');
  return [createTracing()];
}
