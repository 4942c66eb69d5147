import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { type ApiResponse, defineOperation } from '@questline/core';
import type { createTracing } from '@questline/opentelemetry';
import { beforeEach, describe, expect, it } from 'vitest';
import { installTraces, PARENT, setUp, setUpUnrecorded, TRACE_ID } from './recorded.ts';

beforeEach(installTraces);

describe('the span of a request', () => {
  const operation = defineOperation({
    id: 'look',
    method: 'GET',
    path: '/look/{id}',
    auth: 'public',
  } as unknown as Parameters<typeof defineOperation>[0]);
  const request = { method: 'GET', protocol: 'https', headers: PARENT } as unknown as Parameters<
    NonNullable<ReturnType<typeof createTracing>['request']>
  >[0]['request'];

  async function run(work: () => Promise<ApiResponse>) {
    const { tracing, spans } = setUp();
    const response = await tracing.request?.({ operation, request }, work);
    return { response, spans };
  }

  it.each(['text', new Uint8Array(2), undefined])('ends with the answer %s', async (body) => {
    const answer: ApiResponse = { status: 200, headers: {}, body };
    const { response, spans } = await run(async () => answer);
    expect(response).toBe(answer);
    expect(spans()).toMatchObject([
      {
        name: 'GET /look/{id}',
        kind: SpanKind.SERVER,
        parentSpanContext: { traceId: TRACE_ID },
        status: { code: SpanStatusCode.UNSET },
      },
    ]);
    expect(spans()[0]?.attributes).toStrictEqual({
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'http.route': '/look/{id}',
      'url.scheme': 'https',
      'questline.operation': 'look',
    });
  });

  it.each([
    [499, SpanStatusCode.UNSET, undefined],
    [500, SpanStatusCode.ERROR, '500'],
    [503, SpanStatusCode.ERROR, '503'],
  ])('with status %s has the state %s', async (status, code, type) => {
    const { spans } = await run(async () => ({ status, headers: {}, body: undefined }));
    expect(spans()[0]?.status.code).toBe(code);
    expect(spans()[0]?.attributes['error.type']).toBe(type);
  });

  it('is the parent of the spans in the work', async () => {
    let active: string | undefined;
    const { spans } = await run(async () => {
      active = trace.getSpan(context.active())?.spanContext().spanId;
      return { status: 204, headers: {}, body: undefined };
    });
    expect(spans()[0]?.spanContext().spanId).toBe(active);
  });

  it('ends once with an error that the work rejects with', async () => {
    const { tracing, spans } = setUp();
    const failing = tracing.request?.({ operation, request }, async () => {
      throw new TypeError('text');
    });
    await expect(failing).rejects.toThrow(TypeError);
    expect(spans()).toMatchObject([
      { attributes: { 'error.type': 'TypeError' }, status: { code: SpanStatusCode.ERROR } },
    ]);
  });

  it('fails with a stream that breaks off', async () => {
    async function* body() {
      yield 'a';
      throw new RangeError('text');
    }
    const { response, spans } = await run(async () => ({ status: 200, headers: { a: 'b' }, body: body() }));
    expect(response).toMatchObject({ status: 200, headers: { a: 'b' } });
    const reading = async () => {
      for await (const part of (response?.body ?? []) as AsyncIterable<string>) {
        expect([part, spans().length]).toEqual(['a', 0]);
      }
    };
    await expect(reading()).rejects.toThrow(RangeError);
    expect(spans()).toMatchObject([{ attributes: { 'error.type': 'RangeError' } }]);
    expect(spans()[0]?.attributes).not.toHaveProperty('questline.client_closed');
  });

  it('ends with a stream that the client leaves, and has the id of the request', async () => {
    const headers = { 'X-Request-ID': 'r-1' };
    const { response, spans } = await run(async () => ({
      status: 200,
      headers,
      body: (async function* () {
        yield 'a';
        yield 'b';
      })(),
    }));
    for await (const part of (response?.body ?? []) as AsyncIterable<string>) {
      expect(part).toBe('a');
      break;
    }
    expect(spans()).toMatchObject([
      {
        attributes: { 'questline.client_closed': true, 'questline.request_id': 'r-1' },
        status: { code: SpanStatusCode.UNSET },
      },
    ]);
  });

  it('passes on the answer itself when nothing is recorded', async () => {
    const answer: ApiResponse = { status: 200, headers: {}, body: (async function* () {})() };
    const { tracing, end } = setUpUnrecorded();
    expect(await tracing.request?.({ operation, request }, async () => answer)).toBe(answer);
    expect(end).toHaveBeenCalledOnce();
  });
});

describe('the span of a job', () => {
  const JOB = { kind: 'chat', attempt: 2, carried: PARENT };

  it.each([
    ['done', undefined],
    ['again', { at: 7 }],
  ])('has the outcome %s and returns what the work returns', async (outcome, result) => {
    const { tracing, spans } = setUp();
    let carried: unknown;
    const work = async () => {
      carried = tracing.getTraceContext?.();
      return result as never;
    };
    expect(await tracing.job?.(JOB, work)).toBe(result);
    const [span] = spans();
    expect(span).toMatchObject({
      name: 'process chat',
      kind: SpanKind.CONSUMER,
      parentSpanContext: { traceId: TRACE_ID },
    });
    expect(span?.attributes).toEqual({
      'messaging.system': 'questline',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'chat',
      'questline.job.attempt': 2,
      'questline.job.outcome': outcome,
    });
    expect(carried).toEqual({ traceparent: `00-${TRACE_ID}-${span?.spanContext().spanId}-01` });
  });

  it('fails with the work', async () => {
    const { tracing, spans } = setUp();
    const failing = tracing.job?.(JOB, async () => {
      throw new TypeError('text');
    });
    await expect(failing).rejects.toThrow(TypeError);
    expect(spans()).toMatchObject([
      { attributes: { 'error.type': 'TypeError' }, status: { code: SpanStatusCode.ERROR } },
    ]);
    expect(spans()[0]?.attributes).not.toHaveProperty('questline.job.outcome');
  });
});

it('carries the state of the trace and nothing else of the caller', () => {
  propagation.disable();
  propagation.setGlobalPropagator({
    fields: () => [],
    inject: (_context, carrier) =>
      void Object.assign(carrier as object, { tracestate: 'a=b', baggage: 'user=ada' }),
    extract: (given) => given,
  });
  expect(setUp().tracing.getTraceContext?.()).toStrictEqual({ tracestate: 'a=b' });
});
