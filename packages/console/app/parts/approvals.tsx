import { useState } from 'preact/hooks';
import { toMessage } from '../api.ts';
import { useApp } from '../context.ts';
import type { PendingApproval } from '../records.ts';
import { CodeBlock } from './code-block.tsx';
import { ErrorMessage } from './view.tsx';

/** The tool calls of an answer that wait for the user. */
export function Approvals({ questId, calls }: { questId: string; calls: readonly PendingApproval[] }) {
  return (
    <ul class="approvals" aria-label="Waiting tool calls">
      {calls.map((waiting) => (
        <WaitingCall key={waiting.callId} questId={questId} waiting={waiting} />
      ))}
    </ul>
  );
}

function WaitingCall({ questId, waiting }: { questId: string; waiting: PendingApproval }) {
  const { call } = useApp();
  const [failure, setFailure] = useState<string>();
  const [isSent, setSent] = useState(false);
  const { callId, tool, kind, input, decision } = waiting;
  const decide = async (chosen: 'approve' | 'reject'): Promise<void> => {
    setSent(true);
    setFailure(undefined);
    try {
      const decisions = [{ callId, decision: chosen }];
      await call('POST', `/api/v1/quests/${questId}/decisions`, { decisions });
    } catch (error) {
      setSent(false);
      setFailure(toMessage(error));
    }
  };
  return (
    <li class="approval">
      <p>
        <strong>{tool}</strong>{' '}
        {kind === 'approval' ? 'needs your approval.' : 'waits for a program to answer.'}
      </p>
      {input !== undefined && <CodeBlock code={JSON.stringify(input, null, 2)} language="json" />}
      <ErrorMessage text={failure} />
      {decision === undefined ? (
        <div class="approval-actions">
          {kind === 'approval' && (
            <button type="button" disabled={isSent} onClick={() => void decide('approve')}>
              Approve
            </button>
          )}
          <button type="button" class="ghost" disabled={isSent} onClick={() => void decide('reject')}>
            Reject
          </button>
        </div>
      ) : (
        <p role="status">{decision === 'reject' ? 'Rejected' : 'Approved'}</p>
      )}
    </li>
  );
}
