import { ShieldCheck } from 'lucide';
import { useAction, useLoad } from '../hooks.ts';
import { Empty, ErrorMessage, View, Waiting } from '../parts/view.tsx';
import type { AgentSubmission } from '../records.ts';

/** Agents that their owners want to publish to all users. */
export function AgentRequests() {
  const list = useLoad('submissions', (get) =>
    get<{ agents: readonly AgentSubmission[] }>('/api/agents/submissions?limit=100'),
  );
  const { busy, error, run } = useAction();
  const approve = async ({ id, updatedAt }: AgentSubmission): Promise<void> => {
    await run((call) => call('POST', `/api/agents/${id}/approve`, { updatedAt }));
    list.reload();
  };
  const refuse = async ({ id }: AgentSubmission): Promise<void> => {
    await run((call) => call('POST', `/api/agents/${id}/refuse`, {}));
    list.reload();
  };
  return (
    <View
      title="Public agents"
      lead="An approved agent can shape the answers of all users. Read its instructions first."
    >
      <ErrorMessage text={error} />
      <Waiting of={list} />
      {list.data?.agents.length === 0 && <Empty icon={ShieldCheck} title="No agent waits for approval." />}
      <ul class="cards">
        {list.data?.agents.map((agent) => (
          <li key={agent.id} class="card">
            <h2>{agent.name}</h2>
            <p class="quiet">{agent.description || 'No description.'}</p>
            <p>{agent.triggerWords.join(' ')}</p>
            <pre class="secret">{agent.systemPrompt ?? 'No instructions.'}</pre>
            <div class="row-actions">
              <button type="button" class="primary small" disabled={busy} onClick={() => void approve(agent)}>
                Approve
              </button>
              <button type="button" class="small" disabled={busy} onClick={() => void refuse(agent)}>
                Refuse
              </button>
            </div>
          </li>
        ))}
      </ul>
    </View>
  );
}
