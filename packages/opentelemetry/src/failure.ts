import { type Span, SpanStatusCode } from '@opentelemetry/api';
import { isProviderError } from '@questline/core/ports';

/** Marks a span as failed by the kind of failure alone: its message may quote a prompt. */
export function fail(span: Span, error: unknown): void {
  span.setAttribute('error.type', typeOf(error));
  if (isProviderError(error)) {
    const { status, code, param } = error;
    if (status !== undefined) span.setAttribute('questline.provider.status', status);
    if (code !== undefined) span.setAttribute('questline.provider.code', code);
    if (param !== undefined) span.setAttribute('questline.provider.param', param);
  }
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function typeOf(error: unknown): string {
  if (isProviderError(error)) return error.kind;
  return error instanceof Error ? error.name : '_OTHER';
}
