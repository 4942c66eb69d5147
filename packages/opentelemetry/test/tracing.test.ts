import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { type ModelProvider, type Observer, ProviderError } from '@questline/core';
import { createTracing } from '@questline/opentelemetry';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createScriptedProvider, SCRIPTED_MODEL } from '../../../test/support/model.ts';
import { createWorld, type World } from '../../../test/support/world.ts';

/** What must never stand in a span. */
const PROMPT = 'the-secret-plan';
const ANSWER = 'the-secret-answer';

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });

// What a host does that wants traces; the package itself registers nothing.
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

function spanOf(name: string): ReadableSpan {
  const found = spans().filter((span) => span.name === name);
  expect(found, `spans named ${name} among ${spans().map((span) => span.name)}`).toHaveLength(1);
  return found[0] as ReadableSpan;
}

const ask = (world: World, options: { headers?: Record<string, string> } = {}) =>
  world.ask('POST', '/api/ai/v1/completions', {
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
  return createWorld({ models: [models], settings: { observers: [...more, createTracing()] } });
}

describe('a request', () => {
  it('is one span until the last byte, and the question to the model is one within it', async () => {
    const world = await traced(answering());
    const response = await ask(world);
    expect(spans()).toEqual([]);
    await response.text();

    const request = spanOf('POST /api/ai/v1/completions');
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
    const call = spanOf('chat scripted');
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

  it('for embeddings names the model that made them', async () => {
    const vectors = {
      id: 'vectors',
      models: () => [{ ...SCRIPTED_MODEL, id: 'small', provider: 'vectors', type: 'embedding' as const }],
      generate: () => Promise.reject(new Error('it only embeds')),
      embed: async () => ({ embeddings: [[1]], tokens: 3, model: 'small-2026' }),
    };
    const world = await traced(vectors);
    const { key } = await world.issue({ scopes: ['ai:generate'] });
    const body = { model: 'small', input: PROMPT };
    expect((await world.ask('POST', '/api/v1/embeddings', { credential: key, body })).status).toBe(200);
    expect(spanOf('embeddings small').attributes).toMatchObject({
      'gen_ai.response.model': 'small-2026',
      'gen_ai.usage.input_tokens': 3,
    });
  });

  it('stands in the trace its caller names', async () => {
    const world = await traced(answering());
    const [traceId, parentId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
    await (await ask(world, { headers: { traceparent: `00-${traceId}-${parentId}-01` } })).text();
    expect(spanOf('POST /api/ai/v1/completions').parentSpanContext).toMatchObject({
      traceId,
      spanId: parentId,
    });
  });

  it("stands within the host's own span", async () => {
    const world = await traced(answering());
    await provider.getTracer('host').startActiveSpan('GET /host', async (span) => {
      await (await world.ask('GET', '/api/v1/me')).text();
      span.end();
    });
    const own = spanOf('GET /api/v1/me');
    expect(own.kind).toBe(SpanKind.INTERNAL);
    expect(own.parentSpanContext?.spanId).toBe(spanOf('GET /host').spanContext().spanId);
  });

  it('names its route, never its path', async () => {
    const world = await traced(answering());
    const id = 'c'.repeat(24);
    const key = await world.issue({ scopes: ['notebooks:read'] });
    const response = await world.ask('GET', `/api/sessions/${id}?token=hush`, { credential: key.key });
    expect(response.status).toBe(404);
    const { attributes, status } = spanOf('GET /api/sessions/{id}');
    expect(attributes).toMatchObject({ 'http.response.status_code': 404 });
    // The caller's mistake is no failure of the service.
    expect(status.code).toBe(SpanStatusCode.UNSET);
    expect(JSON.stringify(attributes)).not.toMatch(new RegExp(`${id}|hush`));
  });

  it('fails with its model, by the kind of failure alone', async () => {
    const world = await traced(
      createScriptedProvider((call) => call.fail(new ProviderError('rejected_key', `no: ${PROMPT}`))),
    );
    await (await ask(world)).text();
    const call = spanOf('chat scripted');
    expect(call.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(call.attributes).toMatchObject({ 'error.type': 'rejected_key' });
    const request = spanOf('POST /api/ai/v1/completions');
    const status = Number(request.attributes['http.response.status_code']);
    expect(request.status.code).toBe(status >= 500 ? SpanStatusCode.ERROR : SpanStatusCode.UNSET);
  });

  it('ends when its client leaves, the question too', async () => {
    const world = await traced(createScriptedProvider((call) => call.say({ type: 'text', text: ANSWER })));
    const response = await ask(world);
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await world.settle();
    expect(spanOf('chat scripted').attributes).toMatchObject({ 'questline.left': true });
    expect(spanOf('POST /api/ai/v1/completions').attributes).toMatchObject({ 'questline.left': true });
  });
});

describe('a job', () => {
  it('stands in the trace of the request that it was enqueued by', async () => {
    const world = await traced(answering());
    await world.api.start();
    const key = await world.issue({ scopes: ['ai:chat'] });
    const response = await world.ask('POST', '/api/chat', {
      credential: key.key,
      body: { message: PROMPT, model: SCRIPTED_MODEL.id },
    });
    expect(response.status).toBe(200);
    await response.text();
    for (let turns = 0; turns < 20; turns += 1) {
      await world.settle();
      await world.clock.advance(100);
    }
    await world.api.close();

    const request = spanOf('POST /api/chat');
    const [job] = spans().filter(({ kind }) => kind === SpanKind.CONSUMER);
    expect(job?.parentSpanContext?.spanId).toBe(request.spanContext().spanId);
    expect(job?.attributes).toMatchObject({
      'messaging.operation.type': 'process',
      'questline.job.attempt': 1,
      'questline.job.outcome': 'done',
    });
    expect(spanOf('chat scripted').parentSpanContext?.spanId).toBe(job?.spanContext().spanId);
  });
});

it('holds no prompt, no answer, no key and no mail address', async () => {
  const world = await traced(answering());
  await (await ask(world)).text();
  const everything = spans().map(({ name, attributes, events, status }) => ({
    name,
    attributes,
    events,
    status,
  }));
  expect(everything.length).toBeGreaterThan(1);
  for (const secret of [PROMPT, ANSWER, world.key, 'ada@']) {
    expect(JSON.stringify(everything)).not.toContain(secret);
  }
});

it('answers the same where nothing is registered, and registers nothing', async () => {
  trace.disable();
  context.disable();
  propagation.disable();
  const world = await traced(answering());
  const text = await (await ask(world)).text();
  expect(text).toContain(ANSWER);
  expect(text.trim().endsWith('[DONE]')).toBe(true);
  expect(spans()).toEqual([]);
  expect(trace.setGlobalTracerProvider(provider)).toBe(true);
});
