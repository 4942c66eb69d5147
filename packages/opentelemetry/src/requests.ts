import {
  type Context,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { ApiResponse } from '@questline/core';
import { finalizing } from '@questline/core/internal';
import type { ObservedRequest } from '@questline/core/ports';
import { fail } from './failure.ts';

/** A span from the request's arrival to the last byte of its answer. */
export async function traceRequest(
  tracer: Tracer,
  { operation, request }: ObservedRequest,
  work: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const { parent, kind } = getPlace(request.headers);
  const span = tracer.startSpan(
    `${request.method} ${operation.path}`,
    {
      kind,
      attributes: {
        'http.request.method': request.method,
        // The template: paths hold ids, and some of them signatures.
        'http.route': operation.path,
        'url.scheme': request.protocol,
        'questline.operation': operation.id,
      },
    },
    parent,
  );
  try {
    const response = await context.with(trace.setSpan(parent, span), work);
    return answered(span, response);
  } catch (error) {
    fail(span, error);
    span.end();
    throw error;
  }
}

/** The parent: the host's span if there is one, else the caller's trace context. */
function getPlace(headers: ObservedRequest['request']['headers']): { parent: Context; kind: SpanKind } {
  const active = context.active();
  if (trace.getSpan(active) !== undefined) return { parent: active, kind: SpanKind.INTERNAL };
  return { parent: propagation.extract(active, headers), kind: SpanKind.SERVER };
}

function answered(span: Span, response: ApiResponse): ApiResponse {
  if (!span.isRecording()) {
    span.end();
    return response;
  }
  const { status, headers, body } = response;
  span.setAttribute('http.response.status_code', status);
  const requestId = headers['X-Request-ID'];
  if (requestId !== undefined) span.setAttribute('questline.request_id', requestId);
  if (status >= 500) {
    span.setAttribute('error.type', String(status));
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  if (typeof body !== 'object' || !(Symbol.asyncIterator in body)) {
    span.end();
    return response;
  }
  const watched = finalizing(body[Symbol.asyncIterator](), (end) => {
    if (end.reason === 'failed') fail(span, end.error);
    if (end.reason === 'abandoned') span.setAttribute('questline.client_closed', true);
    span.end();
  });
  return { status, headers, body: watched };
}
