import type { ProviderErrorDetails } from '../../models/failures.ts';
import type { QuestRecord } from '../../runs/records.ts';
import { readableBy, toPendingApprovals } from '../quests/wire.ts';
import type { WireExecution } from './contract.ts';
import type { StepRecord } from './records.ts';

/** A run as the API returns it to a user. */
export function toWireExecution(
  quest: QuestRecord,
  steps: readonly StepRecord[],
  userId: string,
): WireExecution {
  const status = getStatus(quest);
  const { pendingApprovals } = toPendingApprovals(quest, userId);
  return {
    id: quest.id,
    status: pendingApprovals === undefined ? status : 'waiting',
    session_id: quest.sessionId,
    answer: status === 'completed' ? (quest.answer ?? quest.text ?? '') : null,
    error: readableBy(quest, userId).explanation ?? null,
    ...(quest.stopReason !== undefined && { stop_reason: quest.stopReason }),
    ...(quest.providerError !== undefined && { provider_error: toWire(quest.providerError) }),
    steps: steps.map(({ type, content, iteration, toolName }) => ({
      type,
      content,
      iteration,
      ...(toolName !== undefined && { tool_name: toolName }),
    })),
    ...(pendingApprovals !== undefined && {
      pending_approvals: pendingApprovals.map(({ callId: call_id, tool, input, decision }) => ({
        call_id,
        tool,
        input,
        ...(decision !== undefined && { decision }),
      })),
    }),
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
    case 'waiting':
      return 'running';
    case 'stopped':
      return 'aborted';
    case 'done':
      return type === 'error' ? 'failed' : 'completed';
  }
}
