import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { useAction, useLoad } from '../hooks.ts';
import { Dialog, Fault, Field, sure, Table, textOf, View, Waiting } from '../parts/basics.tsx';
import type { Agent, CursorPage } from '../records.ts';

export function Agents() {
  const [edited, setEdited] = useState<Agent | 'new'>();
  const list = useLoad('agents', (signal) =>
    call<CursorPage<Agent>>('GET', '/api/v1/agents?limit=100', undefined, signal),
  );
  const { error, run } = useAction();
  const remove = ({ id, name }: Agent): void => {
    if (sure(`Delete the agent “${name}”?`)) {
      void run(() => call('DELETE', `/api/v1/agents/${id}`)).then(list.reload);
    }
  };
  return (
    <View
      title="Agents"
      actions={
        <button type="button" class="main" onClick={() => setEdited('new')}>
          New agent
        </button>
      }
    >
      <p class="quiet">Mention an agent by one of its words in a message, and it shapes the answer.</p>
      <Fault text={error} />
      <Waiting of={list} />
      <Table
        caption="Agents"
        heads={['Name', 'Description', 'Words', 'Actions']}
        rows={list.data?.data}
        empty="No agents yet."
        row={(agent) => (
          <tr key={agent.id}>
            <th scope="row">{agent.name}</th>
            <td>{agent.description}</td>
            <td>{agent.trigger_words.join(' ')}</td>
            <td class="row">
              {agent.is_owner && (
                <>
                  <button type="button" onClick={() => setEdited(agent)}>
                    Change
                  </button>
                  <button type="button" onClick={() => remove(agent)}>
                    Delete
                  </button>
                </>
              )}
            </td>
          </tr>
        )}
      />
      {edited !== undefined && (
        <Editor
          agent={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSaved={() => {
            setEdited(undefined);
            list.reload();
          }}
        />
      )}
    </View>
  );
}

interface EditorProps {
  readonly agent: Agent | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

function Editor({ agent, onClose, onSaved }: EditorProps) {
  const { busy, error, run } = useAction();
  const save = async (form: HTMLFormElement): Promise<void> => {
    const wish = {
      name: textOf(form, 'name'),
      description: textOf(form, 'description'),
      system_prompt: textOf(form, 'prompt'),
      trigger_words: textOf(form, 'words').split(/\s+/).filter(Boolean),
    };
    const path = agent === undefined ? '/api/v1/agents' : `/api/v1/agents/${agent.id}`;
    if (await run(() => call(agent === undefined ? 'POST' : 'PATCH', path, wish))) onSaved();
  };
  return (
    <Dialog title={agent === undefined ? 'New agent' : `Change ${agent.name}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save(event.currentTarget);
        }}
      >
        <Field label="Name">
          <input name="name" required defaultValue={agent?.name ?? ''} />
        </Field>
        <Field label="Description">
          <input name="description" defaultValue={agent?.description ?? ''} />
        </Field>
        <Field label="Instructions" hint="Only you see them.">
          <textarea name="prompt" rows={6} defaultValue={agent?.system_prompt ?? ''} />
        </Field>
        <Field label="Words that call it" hint="With spaces between them, e.g. @poet @bard.">
          <input name="words" defaultValue={agent?.trigger_words.join(' ') ?? ''} />
        </Field>
        <Fault text={error} />
        <button type="submit" class="main" disabled={busy}>
          Save
        </button>
      </form>
    </Dialog>
  );
}
