import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { type ModelProvider, type Observer, ProviderError } from '@questline/core/ports';
import { createTracing } from '@questline/opentelemetry';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createScriptedProvider, SCRIPTED_MODEL } from '../../../test/support/model.ts';
import { createTestApp, type TestApp } from '../../../test/support/test-app.ts';

/** Must never appear in a span. */
const PROMPT = 'the-secret-plan';
const ANSWER = 'the-secret-answer';

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });

// The setup of a host with traces; the package itself registers nothing.
beforeEach(() => {
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
});

afterEach(() => {
  trace.disable();
  context.disable();
  propagation.disable();
  exporter.reset();
});

function spans(): readonly ReadableSpan[] {
  return exporter.getFinishedSpans();
}

function getSpan(name: string): ReadableSpan {
  const found = spans().filter((span) => span.name === name);
  expect(found, `expected a span ${name} among ${spans().map((span) => span.name)}`).toHaveLength(1);
  return found[0] as ReadableSpan;
}

const ask = (app: TestApp, options: { headers?: Record<string, string> } = {}) =>
  app.ask('POST', '/api/ai/v1/completions', {
    ...options,
    body: { model: 'scripted', messages: [{ role: 'user', content: PROMPT }], temperature: 0.5 },
  });

const answering = () =>
  createScriptedProvider((call) => {
    call.say({ type: 'text', text: ANSWER });
    call.say({
      type: 'usage',
      usage: { input: 10, cachedInput: 5, cacheWrite: 2, output: 7, reasoning: 3 },
    });
    call.say({ type: 'finish', reason: 'max_tokens', model: 'scripted-2026-11-01' });
    call.end();
  });

async function traced(models: ModelProvider, more: readonly Observer[] = []) {
  return createTestApp({ models: [models], settings: { observers: [...more, createTracing()] } });
}

describe('trace of a request', () => {
  it('is one span until the last byte, with the model call as its child', async () => {
    const app = await traced(answering());
    const response = await ask(app);
    expect(spans()).toEqual([]);
    await response.text();

    const request = getSpan('POST /api/ai/v1/completions');
    expect(request.kind).toBe(SpanKind.SERVER);
    expect(request.parentSpanContext).toBeUndefined();
    expect(request.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/api/ai/v1/completions',
      'http.response.status_code': 200,
      'url.scheme': 'http',
      'questline.operation': 'createCompletion',
      'questline.request_id': response.headers.get('X-Request-ID'),
    });
    const call = getSpan('chat scripted');
    expect(call.kind).toBe(SpanKind.CLIENT);
    expect(call.parentSpanContext?.spanId).toBe(request.spanContext().spanId);
    expect(call.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'scripted',
      'gen_ai.request.max_tokens': 4096,
      'gen_ai.request.temperature': 0.5,
      'gen_ai.response.model': 'scripted-2026-11-01',
      'gen_ai.response.finish_reasons': ['length'],
      'gen_ai.usage.input_tokens': 17,
      'gen_ai.usage.output_tokens': 10,
      'gen_ai.usage.cache_read.input_tokens': 5,
      'gen_ai.usage.cache_creation.input_tokens': 2,
      'gen_ai.usage.reasoning.output_tokens': 3,
      'questline.own_key': false,
    });
    expect(call.events.map(({ name }) => name)).toEqual(['questline.first_part']);
  });

  it('names the embedding model', async () => {
    const vectors = {
      id: 'vectors',
      models: () => [{ ...SCRIPTED_MODEL, id: 'small', provider: 'vectors', type: 'embedding' as const }],
      generate: () => Promise.reject(new Error('it only embeds')),
      embed: async () => ({ embeddings: [[1]], tokens: 3, model: 'small-2026' }),
    };
    const app = await traced(vectors);
    const { key } = await app.issue({ scopes: ['ai:generate'] });
    const body = { model: 'small', input: PROMPT };
    expect((await app.ask('POST', '/api/v1/embeddings', { credential: key, body })).status).toBe(200);
    expect(getSpan('embeddings small').attributes).toMatchObject({
      'gen_ai.response.model': 'small-2026',
      'gen_ai.usage.input_tokens': 3,
    });
  });

  it('continues the trace of its caller', async () => {
    const app = await traced(answering());
    const [traceId, parentId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
    await (await ask(app, { headers: { traceparent: `00-${traceId}-${parentId}-01` } })).text();
    expect(getSpan('POST /api/ai/v1/completions').parentSpanContext).toMatchObject({
      traceId,
      spanId: parentId,
    });
  });

  it('is a child of the span of the host', async () => {
    const app = await traced(answering());
    await provider.getTracer('host').startActiveSpan('GET /host', async (span) => {
      await (await app.ask('GET', '/api/v1/me')).text();
      span.end();
    });
    const own = getSpan('GET /api/v1/me');
    expect(own.kind).toBe(SpanKind.INTERNAL);
    expect(own.parentSpanContext?.spanId).toBe(getSpan('GET /host').spanContext().spanId);
  });

  it('contains the route, never the path', async () => {
    const app = await traced(answering());
    const id = 'c'.repeat(24);
    const key = await app.issue({ scopes: ['notebooks:read'] });
    const response = await app.ask('GET', `/api/sessions/${id}?token=hush`, { credential: key.key });
    expect(response.status).toBe(404);
    const { attributes, status } = getSpan('GET /api/sessions/{id}');
    expect(attributes).toMatchObject({ 'http.response.status_code': 404 });
    // A mistake of the client is no failure of the service.
    expect(status.code).toBe(SpanStatusCode.UNSET);
    expect(JSON.stringify(attributes)).not.toMatch(new RegExp(`${id}|hush`));
  });

  it('fails with its model and contains only the kind of failure', async () => {
    const app = await traced(
      createScriptedProvider((call) => call.fail(new ProviderError('rejected_key', `no: ${PROMPT}`))),
    );
    await (await ask(app)).text();
    const call = getSpan('chat scripted');
    expect(call.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(call.attributes).toMatchObject({ 'error.type': 'rejected_key' });
    const request = getSpan('POST /api/ai/v1/completions');
    const status = Number(request.attributes['http.response.status_code']);
    expect(request.status.code).toBe(status >= 500 ? SpanStatusCode.ERROR : SpanStatusCode.UNSET);
  });

  it('contains the status, code and parameter of a provider error', async () => {
    const refusal = new ProviderError('invalid_request', `no: ${PROMPT}`, {
      status: 404,
      code: 'model_not_found',
      param: 'model',
    });
    const app = await traced(createScriptedProvider((call) => call.fail(refusal)));
    await (await ask(app)).text();
    expect(getSpan('chat scripted').attributes).toMatchObject({
      'error.type': 'invalid_request',
      'questline.provider.status': 404,
      'questline.provider.code': 'model_not_found',
      'questline.provider.param': 'model',
    });
  });

  it('ends with the model call when the client disconnects', async () => {
    const app = await traced(createScriptedProvider((call) => call.say({ type: 'text', text: ANSWER })));
    const response = await ask(app);
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await app.settle();
    expect(getSpan('chat scripted').attributes).toMatchObject({ 'questline.client_closed': true });
    expect(getSpan('POST /api/ai/v1/completions').attributes).toMatchObject({
      'questline.client_closed': true,
    });
  });
});

describe('trace of a job', () => {
  it('continues the trace of the request that enqueued it', async () => {
    const app = await traced(answering());
    await app.api.start();
    const key = await app.issue({ scopes: ['ai:chat'] });
    const response = await app.ask('POST', '/api/chat', {
      credential: key.key,
      body: { message: PROMPT, model: SCRIPTED_MODEL.id },
    });
    expect(response.status).toBe(200);
    await response.text();
    for (let turns = 0; turns < 20; turns += 1) {
      await app.settle();
      await app.clock.advance(100);
    }
    await app.api.close();

    const request = getSpan('POST /api/chat');
    const [job] = spans().filter(({ kind }) => kind === SpanKind.CONSUMER);
    expect(job?.parentSpanContext?.spanId).toBe(request.spanContext().spanId);
    expect(job?.attributes).toMatchObject({
      'messaging.operation.type': 'process',
      'questline.job.attempt': 1,
      'questline.job.outcome': 'done',
    });
    expect(getSpan('chat scripted').parentSpanContext?.spanId).toBe(job?.spanContext().spanId);
  });
});

it('contains no prompt, answer, key or mail address', async () => {
  const app = await traced(answering());
  await (await ask(app)).text();
  const everything = spans().map(({ name, attributes, events, status }) => ({
    name,
    attributes,
    events,
    status,
  }));
  expect(everything.length).toBeGreaterThan(1);
  for (const secret of [PROMPT, ANSWER, app.key, 'ada@']) {
    expect(JSON.stringify(everything)).not.toContain(secret);
  }
});

it('changes no response and registers nothing without an SDK', async () => {
  trace.disable();
  context.disable();
  propagation.disable();
  const app = await traced(answering());
  const text = await (await ask(app)).text();
  expect(text).toContain(ANSWER);
  expect(text.trim().endsWith('[DONE]')).toBe(true);
  expect(spans()).toEqual([]);
  expect(trace.setGlobalTracerProvider(provider)).toBe(true);
});
