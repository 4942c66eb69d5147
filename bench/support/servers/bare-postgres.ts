/**
 * node:http and pg with the same effect on the same tables, in few prepared statements: completion 3, poll 2, list 2, chat
 * 7 with its turn. No validation, no rules, no recovery. The statements of the ledger and the limiter are Questline's own.
 */
import { createServer, type ServerResponse } from 'node:http';
import { createPostgresWrites } from '../../../packages/sql/src/ledger/postgres.ts';
import { toSettlementText } from '../../../packages/sql/src/ledger/postgres-settlement.ts';
import { createPostgresTakes } from '../../../packages/sql/src/limiter/postgres.ts';
import { defineStatement, type SqlStatement } from '../../../packages/sql/src/statement.ts';
import { serve } from '../child.ts';
import { getText, relay } from './bare-stream.ts';
import { type Caller, openPostgresWorkspace } from './postgres-workspace.ts';

const { pool, database, services, callers } = await openPostgresWorkspace();
const { ids } = services;
const { names } = database;
const table = (name: string): string => names.table(name);
const [sessions, quests, messages, jobs] = ['sessions', 'quests', 'messages', 'jobs'].map(table);

const run = async ({ sql, parameters, name }: SqlStatement) => {
  const { rows } = await pool.query({
    text: sql,
    values: [...parameters],
    ...(name !== undefined && { name }),
  });
  return rows as Record<string, unknown>[];
};
const { one: take } = createPostgresTakes({ ...database, run }, 'cast(@now as bigint)');
const ledger = createPostgresWrites({ ...database, run });

const WINDOWS = [
  { name: 'minute', limit: 1e9, lengthMs: 60_000 },
  { name: 'day', limit: 1e9, lengthMs: 86_400_000 },
];
const HOLD = 512_000;
const COST = 36;
const LEASE_MS = 900_000;
const KEY = `Bearer svc_live_${'k'.repeat(43)}`;

const accept = defineStatement<
  'session' | 'sessionRecord' | 'quest' | 'questRecord' | 'job' | 'payload' | 'now' | 'owner'
>(
  'postgres',
  `with session as (
     insert into ${sessions} as s (id, record) values (@session, cast(@sessionRecord as jsonb))
     on conflict (id) do update set record = s.record || excluded.record
   ), quest as (
     insert into ${quests} (id, record) values (@quest, cast(@questRecord as jsonb))
   )
   insert into ${jobs} (id, key, kind, payload, run_at, attempt, fence, owner, ready, due_at)
   values (@job, @quest, 'bare', cast(@payload as jsonb), @now, 0, 0, @owner, 1, @now)`,
);
const claim = defineStatement<'now' | 'until'>(
  'postgres',
  `update ${jobs} set lease_until = @until, due_at = @until, ready = 0, attempt = attempt + 1, fence = fence + 1
   where sequence = (select sequence from ${jobs} where kind = 'bare' and ready = 1
     order by owner, run_at, sequence limit 1 for update skip locked)
   returning id, key, payload`,
);
const load = defineStatement<'session'>(
  'postgres',
  `select record, (select json_agg(record) from (select record from ${messages} where session_id = @session
     order by session_id desc, created_at desc, id desc limit 10) recent) as messages
   from ${sessions} where id = @session`,
);
const begin = defineStatement<'quest' | 'patch'>(
  'postgres',
  `update ${quests} set record = record || cast(@patch as jsonb) where id = @quest`,
);
const end = defineStatement<
  | 'id'
  | 'actual'
  | 'usage'
  | 'tokens'
  | 'now'
  | 'quest'
  | 'patch'
  | 'asked'
  | 'askedRecord'
  | 'answered'
  | 'answeredRecord'
>(
  'postgres',
  `with ${toSettlementText(names, '1 = 1')}, quest as (
     update ${quests} set record = (record || cast(@patch as jsonb)) - 'liveSince' where id = @quest
   ), message as (
     insert into ${messages} (id, record)
     values (@asked, cast(@askedRecord as jsonb)), (@answered, cast(@answeredRecord as jsonb))
   ), job as (delete from ${jobs} where key = @quest)
   select 1 from charge`,
);
const readQuest = defineStatement<'id' | 'owner'>(
  'postgres',
  `select record from ${quests} where id = @id and owner_id = @owner`,
);
const listSessions = defineStatement<'owner'>(
  'postgres',
  `select record from ${sessions} where owner_id = @owner order by id desc limit 20`,
);

let requests = 0;
/** The callers take turns. */
const nextCaller = (): Caller => {
  const caller = callers[requests % callers.length];
  requests += 1;
  if (caller === undefined) throw new Error('no caller');
  return caller;
};

const holdFor = async (
  { userId, account, keyId }: Caller,
  key: string,
  now: number,
  operation: string,
): Promise<string> => {
  const id = ids.next();
  const details = { operation, userId, keyId, requestId: key, model: 'gpt-bench' };
  await ledger.hold({ id, key, account, amount: HOLD, expiresAt: now + LEASE_MS, details, now }, undefined);
  return id;
};

interface BareJob {
  readonly session: string;
  readonly message: string;
}

const turn = async (caller: Caller): Promise<void> => {
  const now = Date.now();
  const [job] = await run(claim({ now, until: now + LEASE_MS }));
  if (job === undefined) return;
  const { session, message } = job.payload as BareJob;
  const quest = String(job.key);
  await run(load({ session }));
  const id = await holdFor(caller, quest, now, 'sendChatMessage');
  await run(begin({ quest, patch: JSON.stringify({ status: 'running', due: [{ id }], updatedAt: now }) }));
  const [asked, answered] = [ids.next(), ids.next()];
  const shared = { ownerId: caller.userId, questId: quest, sessionId: session, createdAt: now };
  const usage = { input: 10, output: 10 };
  await run(
    end({
      ...{ id, actual: COST, usage: JSON.stringify(usage), tokens: 20, now, quest, asked, answered },
      patch: JSON.stringify({ status: 'done', text: message, promptMeta: { usage, credits: COST / 1e6 } }),
      askedRecord: JSON.stringify({ id: asked, role: 'user', content: message, ...shared }),
      answeredRecord: JSON.stringify({ id: answered, role: 'assistant', content: message, ...shared }),
    }),
  );
};

const reply = (response: ServerResponse, body: object): void => {
  const text = JSON.stringify(body);
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
  response.end(text);
};

const chat = async (caller: Caller, body: string, response: ServerResponse): Promise<void> => {
  const { userId } = caller;
  const { message, sessionId: session = ids.next() } = JSON.parse(body) as {
    message: string;
    sessionId?: string;
  };
  const now = Date.now();
  const [quest, job] = [ids.next(), ids.next()];
  const request = { message, model: 'demo-echo', payer: caller, requestId: quest };
  await run(
    accept({
      ...{ session, quest, job, now, owner: userId },
      sessionRecord: JSON.stringify({
        id: session,
        ownerId: userId,
        name: 'Bench',
        createdAt: now,
        updatedAt: now,
      }),
      questRecord: JSON.stringify({
        ...{
          id: quest,
          kind: 'chat',
          type: 'message',
          status: 'pending',
          ownerId: userId,
          sessionId: session,
        },
        ...{ jobId: job, fence: 0, liveSince: now, createdAt: now, updatedAt: now, request },
      }),
      payload: JSON.stringify({ session, message }),
    }),
  );
  reply(response, { id: quest, sessionId: session, status: 'queued' });
  await turn(caller);
};

const complete = async (caller: Caller, body: string, response: ServerResponse): Promise<void> => {
  const now = Date.now();
  const id = await holdFor(caller, ids.next(), now, 'createCompletion');
  await relay(body, response, async () => {
    await ledger.settle(
      { id, account: caller.account, amount: HOLD, expiresAt: now + LEASE_MS },
      COST,
      { input: 20, output: 8 },
      now,
    );
  });
};

const server = createServer(async (request, response) => {
  try {
    if (request.headers.authorization !== KEY) throw new Error('another key');
    const { method, url = '' } = request;
    const body = method === 'POST' ? await getText(request) : '';
    const caller = nextCaller();
    await take(`key:${caller.keyId}`, WINDOWS, Date.now(), undefined);
    if (url === '/api/chat') return await chat(caller, body, response);
    if (url === '/api/ai/v1/completions') return await complete(caller, body, response);
    const statement =
      url === '/api/v1/sessions'
        ? listSessions({ owner: caller.userId })
        : readQuest({ id: url.slice(15), owner: caller.userId });
    const rows = await run(statement);
    reply(
      response,
      url === '/api/v1/sessions' ? { data: rows.map(({ record }) => record) } : (rows[0]?.record as object),
    );
  } catch (error) {
    console.error(error);
    response.destroy();
  }
});
serve(server);
