import type { ProviderErrorDetails } from '../../models/failures.ts';
import type { QuestRecord } from '../../runs/records.ts';
import type { WireExecution } from './contract.ts';
import type { StepRecord } from './records.ts';

/** A run as the API returns it. */
export function toWireExecution(quest: QuestRecord, steps: readonly StepRecord[]): WireExecution {
  const status = getStatus(quest);
  return {
    id: quest.id,
    status,
    session_id: quest.sessionId,
    answer: status === 'completed' ? (quest.answer ?? quest.text ?? '') : null,
    error: quest.explanation ?? null,
    ...(quest.stopReason !== undefined && { stop_reason: quest.stopReason }),
    ...(quest.providerError !== undefined && { provider_error: toWire(quest.providerError) }),
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

function toWire({ retryAfter, ...named }: ProviderErrorDetails): WireExecution['provider_error'] {
  return { ...named, ...(retryAfter !== undefined && { retry_after: retryAfter }) };
}

function getStatus({ status, type }: QuestRecord): WireExecution['status'] {
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
