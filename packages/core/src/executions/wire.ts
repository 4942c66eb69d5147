import type { QuestRecord } from '../quests/records.ts';
import type { WireExecution } from './contract.ts';
import type { StepRecord } from './records.ts';

/** A run as its readers see it. */
export function toWireExecution(quest: QuestRecord, steps: readonly StepRecord[]): WireExecution {
  const status = statusOf(quest);
  return {
    id: quest.id,
    status,
    session_id: quest.sessionId,
    answer: status === 'completed' ? (quest.answer ?? quest.text ?? '') : null,
    error: quest.explanation ?? null,
    steps: steps.map(({ type, content, iteration, toolName }) => ({
      type,
      content,
      iteration,
      ...(toolName !== undefined && { tool_name: toolName }),
    })),
    total_iterations: quest.rounds ?? null,
    created_at: new Date(quest.createdAt).toISOString(),
    updated_at: new Date(quest.updatedAt).toISOString(),
  };
}

function statusOf({ status, type }: QuestRecord): WireExecution['status'] {
  switch (status) {
    case 'pending':
    case 'running':
      return status;
    case 'stopped':
      return 'aborted';
    case 'done':
      return type === 'error' ? 'failed' : 'completed';
  }
}
