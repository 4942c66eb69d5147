import { type Call, getPayer } from '../../../contract/call.ts';
import type { AnsweringServices } from '../../../models/answering.ts';
import type { EndedCost } from '../../../models/paid-text-call.ts';
import type { Usage } from '../../../ports/ledger.ts';
import type { AnswerChunk, ModelChunk } from '../../../ports/models.ts';
import { cancelIterator } from '../../../shared/streams.ts';
import {
  type AnswerMoney,
  type AskedCompletion,
  askOne,
  type CompletionAnswer,
  checkCredit,
  generateInOrder,
} from '../answer.ts';
import type { CompletionMoneyServices } from '../money.ts';
import { forStandIn } from '../request.ts';
import { spendApprovals } from './approvals.ts';
import { createRoundPlan, type RoundPlan, type RunCall } from './plan.ts';
import { runServerTool, type ServerToolServices, type ServerTools } from './tools.ts';

type RoundServices = CompletionMoneyServices & AnsweringServices & ServerToolServices;

/**
 * An answer of several calls of a model, with the calls of server tools between them. Every call holds its own credit, and
 * is settled before the tools run. After the first round no other model answers.
 */
export function answerInRounds(
  services: RoundServices,
  call: Call,
  asked: AskedCompletion,
  serverTools: ServerTools,
): CompletionAnswer {
  const leaving = new AbortController();
  const signal = AbortSignal.any([call.signal, leaving.signal]);
  const plan = createRoundPlan(asked.request, serverTools, asked.isCapNamed);
  const answers: CompletionAnswer[] = [];
  let hasBegun = false;
  /** The round whose money is not settled. */
  let open: CompletionAnswer | undefined;
  const context = {
    userId: call.caller.userId,
    sessionId: call.id,
    payer: getPayer(call.caller),
    requestId: call.requestId,
    signal,
  };

  const runCall: RunCall = (tool, use, number) =>
    runServerTool(services, tool, use, { ...context, callKey: `${call.id}:tool:${number}` });

  async function* run(): AsyncGenerator<AnswerChunk, undefined> {
    let lists: AnswerChunk = serverTools.lists ?? [];
    if (plan.hasApproved) {
      await checkCredit(services, call, asked);
      await spendApprovals(services.idempotency, serverTools, context);
      hasBegun = true;
      yield lists;
      lists = [];
      yield* plan.runApproved(runCall);
    }
    for (;;) {
      if (signal.aborted) return;
      const answer = await ask(services, call, asked, plan, answers);
      if (signal.aborted) {
        cancelIterator(answer.source);
        await answer.money?.release();
        return;
      }
      answers.push(answer);
      open = answer;
      const round = plan.begin();
      for (;;) {
        const step = await answer.source.next();
        if (step.done === true) break;
        if (lists.length > 0) yield lists;
        lists = [];
        const chunk = round.filter(step.value as ModelChunk, (part) => answer.money?.meter.record(part));
        if (!Array.isArray(chunk) || chunk.length > 0) yield chunk;
      }
      const { money } = answer;
      if (money === undefined || !plan.hasWork(round, money.meter.finishReason)) return;
      open = undefined;
      const cost = await money.end('finished');
      if (signal.aborted) return;
      yield* plan.run(round, runCall);
      if (signal.aborted || !plan.advance(round, countOutput(cost?.usage))) return;
    }
  }

  const chunks = run();
  const money = createRoundsMoney(answers, () => open?.money, plan);
  return {
    source: {
      next: () => chunks.next(),
      async return() {
        leaving.abort(new Error('the client has disconnected'));
        const current = answers.at(-1);
        if (current !== undefined) cancelIterator(current.source);
        cancelIterator(chunks);
        return { done: true, value: undefined };
      },
    },
    get money() {
      return hasBegun || answers.some((answer) => answer.money !== undefined) ? money : undefined;
    },
    get entry() {
      return answers[0]?.entry ?? asked.entry;
    },
  };
}

/** Asks for the next round. Its first step calls the model. */
function ask(
  services: RoundServices,
  call: Call,
  asked: AskedCompletion,
  plan: RoundPlan,
  earlier: readonly CompletionAnswer[],
): CompletionAnswer | Promise<CompletionAnswer> {
  const [first] = earlier;
  const request = plan.request();
  if (first === undefined) {
    const begun = { ...asked, request };
    return asked.standIns.length === 0
      ? askOne(services, call, begun)
      : generateInOrder(services, call, begun);
  }
  const { entry } = first;
  const next = entry === asked.entry ? request : forStandIn(request, entry);
  const key = `${call.id}:round:${earlier.length}`;
  return generateInOrder(services, call, { ...asked, entry, request: next, standIns: [] }, key);
}

/** The money of all rounds. @param current that of the open round; undefined between rounds. */
function createRoundsMoney(
  answers: readonly CompletionAnswer[],
  current: () => AnswerMoney | undefined,
  plan: RoundPlan,
): AnswerMoney {
  return {
    meter: {
      record: (part) => current()?.meter.record(part),
      get awaitsReport() {
        return current()?.meter.awaitsReport ?? false;
      },
      get finishReason() {
        return plan.isCut() ? 'max_tokens' : answers.at(-1)?.money?.meter.finishReason;
      },
    },
    control: {
      stop: (reason) => current()?.control.stop(reason),
      cancelAfterDisconnect: async (reason, readOn) =>
        current()?.control.cancelAfterDisconnect(reason, readOn),
    },
    get isMetered() {
      return answers[0]?.money?.isMetered === true;
    },
    async end(how) {
      const costs = await Promise.all(answers.map(({ money }) => money?.end(how)));
      return addCosts(costs.filter((cost) => cost !== undefined));
    },
    async release() {
      await current()?.release();
    },
  };
}

function addCosts(costs: readonly EndedCost[]): EndedCost | undefined {
  if (costs.length === 0) return undefined;
  const charges = costs.flatMap(({ charged }) => charged ?? []);
  return {
    charged: charges.length < costs.length ? undefined : charges.reduce((sum, charged) => sum + charged, 0),
    usage: addUsage(costs.map(({ usage }) => usage)),
  };
}

/** Adds usages by class. */
export function addUsage(usages: readonly Usage[]): Usage {
  const sum: Record<string, number> = {};
  for (const usage of usages) {
    for (const [name, count] of Object.entries(usage)) sum[name] = (sum[name] ?? 0) + count;
  }
  return sum;
}

/** Reasoning included. */
export function countOutput({ output = 0, reasoning = 0 }: Usage = {}): number {
  return output + reasoning;
}
