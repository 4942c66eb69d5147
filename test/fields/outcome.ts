import { setTimeout, setImmediate as turn } from 'node:timers/promises';
import type { Operation } from '@questline/core';
import { createMemoryObjects } from '@questline/core/memory';
import { askedIn, toTestAppOptions } from '../support/cases.ts';
import type { TestApp } from '../support/test-app.ts';
import { type Answer, type Asked, createWire, type Wire } from '../support/wire.ts';
import type { WireCase } from '../wire/cases/case.ts';
import { recordPorts, toText } from './recorder.ts';

/** A base request and its state. */
export interface Setup extends Pick<WireCase, 'app' | 'caller' | 'ask'> {
  /** Requests that use what the request made, after its answer. */
  readonly afterwards?: (app: TestApp, answer: Answer) => Promise<unknown>;
}

/** What can be seen of a request, as texts that can be compared. */
export interface Traces {
  /** Status, headers and body. */
  readonly answer: string;
  /** The requests to models, web tools and receivers, and the mails. */
  readonly calls: string;
  /** Holds, settlements and the balance. */
  readonly money: string;
}

export interface Outcome {
  readonly asked: Asked;
  readonly status: number;
  readonly text: string;
  /** At the time of the answer. */
  readonly soon: Traces;
  /** After the accepted work and `afterwards`. */
  worked(): Promise<Traces>;
  /** Then: the writes to the object store, the events of the host and what the API returns about the resources. */
  state(): Promise<string>;
  close(): Promise<void>;
}

// The first app of a process reads the API description.
await (await createWire()).app.api.close();

/** Sends the request of a setup, changed by `change` after its state is prepared. */
export async function perform(
  operation: Operation,
  setup: Setup,
  change: (asked: Asked, app: TestApp, wire: Wire) => Asked | Promise<Asked>,
): Promise<Outcome> {
  const row: WireCase = { title: '', status: 200, body: null, ...setup };
  const options = await toTestAppOptions(operation, row);
  const record = { calls: [] as string[], money: [] as string[], state: [] as string[] };
  const wire = await createWire(
    recordPorts(
      {
        ...options,
        objects: options.objects ?? createMemoryObjects(),
        key: { requestsPerMinute: 10_000, requestsPerDay: 1_000_000, ...options.key },
      },
      record,
    ),
  );
  const { app } = wire;
  const asked = await change(await askedIn(operation, row, app), app, wire);
  for (const list of Object.values(record)) list.length = 0;
  const mails = app.mails.length;
  const answer = await sendAndWait(wire, asked);
  const trace = async (): Promise<Traces> => ({
    answer: toText([
      answer.status,
      answer.headers,
      operation.method === 'GET' ? withoutEcho(answer) : answer.text,
    ]),
    calls: toText([record.calls, app.mails.slice(mails)]),
    money: toText([record.money, await app.ledger.balance(app.account)]),
  });
  const soon = await trace();
  let used: unknown;
  const work = async (): Promise<Traces> => {
    used = await setup.afterwards?.(app, answer);
    await app.api.start();
    for (let rounds = 0; rounds < 12; rounds += 1) {
      await app.settle();
      await app.clock.advance(500);
    }
    return trace();
  };
  let worked: Promise<Traces> | undefined;
  let state: Promise<string> | undefined;
  const afterWork = (): Promise<Traces> => {
    worked ??= work();
    return worked;
  };
  return {
    asked,
    status: answer.status,
    text: answer.text,
    soon,
    worked: afterWork,
    state() {
      state ??= afterWork()
        .then(() => readBack(app, operation, asked, answer))
        .then((read) => toText([used, record.state, read]));
      return state;
    },
    close: () => app.api.close(),
  };
}

/** Real time for the threads of the process, e.g. for signatures, during which the clock stands still. */
const THREADS_MS = 100;

/** Advances the clock only while the answer needs it, so that equal requests end at equal times. */
async function sendAndWait({ app, send }: Wire, asked: Asked): Promise<Answer> {
  let isOver = false;
  const answer = send(asked).finally(() => {
    isOver = true;
  });
  // The error is reported to the caller below; this avoids an unhandled rejection.
  answer.catch(() => undefined);
  for (let turns = 0; turns < 50 && !isOver; turns += 1) await turn();
  for (let steps = 0; steps < 300 && !isOver; steps += 1) {
    if (steps === 0) await Promise.race([answer.catch(() => undefined), setTimeout(THREADS_MS)]);
    await app.settle();
    if (!isOver) await app.clock.advance(1000);
  }
  return answer;
}

/** Operations that read no state of the user, or need the time of a stream. */
const NOT_READ = /openapi|docs|stream|events|health|ping|logout|models|export|report/;

/** What the API returns about the resources that the request or its answer name, and about the account. */
async function readBack(
  app: TestApp,
  operation: Operation,
  asked: Asked,
  { text }: Answer,
): Promise<readonly unknown[]> {
  const named = `${asked.path} ${text}`.match(/\b[0-9a-f]{24}\b/g) ?? [];
  const ids = [...new Set(named)].slice(0, 3);
  const credential = await app.token();
  const paths = app.api.routes.flatMap(({ operation: { method, path } }) => {
    if (method !== 'GET' || NOT_READ.test(path) || path === operation.path) return [];
    const parameters = path.match(/\{/g)?.length ?? 0;
    if (parameters > 1) return [];
    return parameters === 0 ? [path] : ids.map((id) => path.replace(/\{\w+\}/, id));
  });
  const read: unknown[] = [];
  for (const path of paths) {
    const answer = await app.ask('GET', path, { credential });
    const body = await answer.text();
    if (answer.status === 200) read.push([path, body]);
  }
  return read;
}

/** The body of a list without the parts that repeat the request. */
function withoutEcho({ body }: Answer): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const { pagination, page, limit, offset, from, to, ...rest } = body as Record<string, unknown>;
  return rest;
}
