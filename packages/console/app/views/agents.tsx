import { Bot, Plus } from 'lucide';
import { useState } from 'preact/hooks';
import { useApp } from '../context.ts';
import { useLoad, useSerialAction } from '../hooks.ts';
import { Icon } from '../parts/icon.tsx';
import { ShareDialog } from '../parts/share-dialog.tsx';
import { Table } from '../parts/table.tsx';
import { Badge, Empty, ErrorMessage, View, Waiting } from '../parts/view.tsx';
import type { Agent, AgentPublication, CursorPage, ListedAgent } from '../records.ts';
import { AgentEditor } from './agent-editor.tsx';

type Opened = { readonly how: 'new' } | { readonly how: 'edit' | 'share'; readonly agent: ListedAgent };

export function Agents() {
  const { ask } = useApp();
  const [opened, setOpened] = useState<Opened>();
  const list = useLoad('agents and publications', async (get) => {
    const [{ data }, { agents }] = await Promise.all([
      get<CursorPage<Agent>>('/api/v1/agents?limit=100'),
      get<{ agents: readonly AgentPublication[] }>('/api/agents?limit=100'),
    ]);
    const byId = new Map(agents.map((one) => [one.id, one]));
    return data.map((agent): ListedAgent => ({ ...byId.get(agent.id), ...agent }));
  });
  const { error, runInTurn } = useSerialAction();
  const close = (): void => setOpened(undefined);
  const remove = async ({ id, name }: Agent): Promise<void> => {
    const text = 'Conversations that use it go on without it.';
    if (
      (await ask({ title: `Delete the agent “${name}”?`, text, action: 'Delete', isDanger: true })) ===
      undefined
    )
      return;
    await runInTurn((call) => call('DELETE', `/api/v1/agents/${id}`));
    list.reload();
  };
  const create = (
    <button type="button" class="primary" onClick={() => setOpened({ how: 'new' })}>
      <Icon of={Plus} /> New agent
    </button>
  );
  return (
    <View
      title="Agents"
      lead="Named, reusable personas. Choose one below the message, or mention one of its words, and it shapes the answer."
      actions={create}
    >
      <ErrorMessage text={error} />
      <Waiting of={list} />
      <Table
        caption="Agents"
        rows={list.data}
        getKey={({ id }) => id}
        empty={
          <Empty
            icon={Bot}
            title="No agents yet."
            hint="Give an agent instructions, a model and tools, and a word to call it by."
          />
        }
        columns={[
          { head: 'Name', cell: ({ name }) => name },
          { head: 'Description', cell: ({ description }) => description || '–' },
          { head: 'Words', cell: ({ trigger_words }) => trigger_words.join(' ') || '–' },
          { head: 'Access', cell: (agent) => <Access agent={agent} /> },
          {
            head: 'Actions',
            isActions: true,
            cell: (agent) =>
              agent.is_owner && (
                <>
                  <button type="button" class="small" onClick={() => setOpened({ how: 'edit', agent })}>
                    Edit
                  </button>
                  <button type="button" class="small" onClick={() => setOpened({ how: 'share', agent })}>
                    Share
                  </button>
                  <button type="button" class="small danger-text" onClick={() => void remove(agent)}>
                    Delete
                  </button>
                </>
              ),
          },
        ]}
      />
      {opened?.how === 'share' && (
        <ShareDialog type="agent" id={opened.agent.id} name={opened.agent.name} onClose={close} />
      )}
      {(opened?.how === 'new' || opened?.how === 'edit') && (
        <AgentEditor
          agent={opened.how === 'edit' ? opened.agent : undefined}
          onClose={close}
          onSaved={() => {
            close();
            list.reload();
          }}
        />
      )}
    </View>
  );
}

const PUBLICATIONS = {
  private: 'Private',
  pending: 'Waits for approval',
  published: 'Public',
  refused: 'Not approved',
} as const;

function Access({ agent: { is_owner, publication = 'private' } }: { agent: ListedAgent }) {
  if (!is_owner) return <Badge state="published">Public</Badge>;
  return <Badge state={publication}>{PUBLICATIONS[publication]}</Badge>;
}
