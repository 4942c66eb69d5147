import type { GetCatalogue } from '../../../models/allowed-models.ts';
import { readAnswer } from '../../../models/answer-stream.ts';
import { type AnsweringServices, generateWithFallback } from '../../../models/answering.ts';
import { candidatesFor, toFallback } from '../../../models/candidates.ts';
import type { CatalogueEntry, ModelCatalogue } from '../../../models/catalogue.ts';
import { payWithin } from '../../../models/output-cap.ts';
import type { Usage } from '../../../ports/ledger.ts';
import type { GenerateRequest } from '../../../ports/models.ts';
import type { QuestOutcome } from '../../../runs/records.ts';
import type { RunContext } from '../../../runs/run-context.ts';
import { forStandIn } from '../request.ts';
import { spendApprovals } from '../server-tools/approvals.ts';
import { createRoundPlan, type RunCall } from '../server-tools/plan.ts';
import { addUsage, countOutput } from '../server-tools/rounds.ts';
import { runServerTool, type ServerToolServices, type ServerTools } from '../server-tools/tools.ts';
import type { OutputWriter } from './output-writer.ts';
import type { ResponseRequest } from './records.ts';

export interface MakeServices extends AnsweringServices, ServerToolServices {
  readonly onError: AnsweringServices['onError'];
  readonly catalogue: ModelCatalogue;
  readonly getCatalogue: GetCatalogue;
  /** By model id: the fallback models, in order. */
  readonly fallbacks: Readonly<Record<string, readonly string[]>>;
}

const NO_TOOLS: ServerTools = { tools: [], maxCalls: 0 };

/**
 * Calls the model, once or, with server tools, in rounds. Every call holds its own credit, and is settled before the tools
 * run. After the first output no other model answers.
 */
export async function makeResponse(
  services: MakeServices,
  run: RunContext,
  output: OutputWriter,
  asked: GenerateRequest,
): Promise<QuestOutcome> {
  const { quest, operation, signal } = run;
  const { payer, requestId, model, isCapOurs, serverTools = NO_TOOLS } = quest.request as ResponseRequest;
  const isCapNamed = isCapOurs !== true;
  const plan = createRoundPlan(asked, serverTools, isCapNamed);
  const catalogue = await services.getCatalogue(payer);
  const usages: Usage[] = [];
  let entry: CatalogueEntry | undefined;
  const context = { userId: quest.ownerId, sessionId: quest.id, payer, requestId, signal };

  const runCall: RunCall = (tool, use, number) =>
    runServerTool(services, tool, use, { ...context, callKey: `${quest.id}:tool:${number}` });
  let lists = serverTools.lists ?? [];
  const addLists = (): void => {
    for (const list of lists) output.add(list);
    lists = [];
  };

  if (plan.hasApproved) {
    const [first] = candidatesFor({ catalogue, fallbacks: services.fallbacks }, model);
    // The account covers a call of the model before an approved call runs.
    const { money } = await payWithin(toRequest(asked, first, model), isCapNamed, (request) =>
      run.pay(first, request),
    );
    await money.release();
    await spendApprovals(services.idempotency, serverTools, context);
    addLists();
    for await (const part of plan.runApproved(runCall)) {
      signal.throwIfAborted();
      output.add(part);
      // An approved call does not run again after a crash.
      if (part.type === 'server_tool_call') await output.save();
      signal.throwIfAborted();
    }
  }

  for (;;) {
    const answering = await generateWithFallback(services, {
      candidates:
        entry === undefined ? candidatesFor({ catalogue, fallbacks: services.fallbacks }, model) : [entry],
      requestFor: (candidate) => toRequest(plan.request(), candidate, model),
      isCapNamed,
      pay: run.pay,
      operation,
      requestId,
      callerId: quest.ownerId,
      signal,
    });
    const { money } = answering;
    if (entry === undefined) {
      entry = answering.entry;
      run.update(toFallback(services.catalogue, model, answering));
      output.begin(entry);
      addLists();
    }
    const round = plan.begin();
    await readAnswer(answering, signal, (part) => {
      // Without tools the answer is not read for a next round.
      if (serverTools === NO_TOOLS || round.take(part)) output.add(part);
    });
    const { usage } = money.meter.read('finished');
    usages.push(usage);
    const goesOn = plan.hasWork(round, money.meter.finishReason);
    if (goesOn) {
      await run.endStep(money, 'finished');
      const parts = plan.run(round, runCall);
      for await (const part of parts) {
        signal.throwIfAborted();
        output.add(part);
      }
    }
    if (goesOn && plan.advance(round, countOutput(usage))) continue;
    const finishReason = plan.isCut() ? 'max_tokens' : money.meter.finishReason;
    output.keep({ usage: addUsage(usages), ...(finishReason !== undefined && { finishReason }) });
    if (finishReason !== undefined) run.update({ stopReason: finishReason });
    return { type: 'message' };
  }
}

function toRequest(asked: GenerateRequest, entry: CatalogueEntry, model: string): GenerateRequest {
  return entry.info.id === model ? { ...asked, model: entry.providerModel } : forStandIn(asked, entry);
}
