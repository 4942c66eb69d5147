import { PlugZap, Plus } from 'lucide';
import { useState } from 'preact/hooks';
import { useApp } from '../context.ts';
import { useAction, useLoad } from '../hooks.ts';
import { Dialog, DialogForm } from '../parts/dialog.tsx';
import { Field, getText } from '../parts/field.tsx';
import { when } from '../parts/format.ts';
import { Icon } from '../parts/icon.tsx';
import { Table } from '../parts/table.tsx';
import { Badge, Empty, ErrorMessage, View, Waiting } from '../parts/view.tsx';
import type { ProviderKey } from '../records.ts';

const SERVICES = [
  { value: 'anthropic', label: 'Anthropic' },
  { value: 'openai', label: 'OpenAI' },
  { value: 'gemini', label: 'Google Gemini' },
  { value: 'xai', label: 'xAI' },
];

export function ProviderKeys() {
  const { ask } = useApp();
  const [isAdding, setAdding] = useState(false);
  const list = useLoad('provider-keys', (get) =>
    get<{ apiKeys: readonly ProviderKey[] }>('/api/api-keys?limit=100'),
  );
  const { busy, error, run } = useAction();
  const activate = async ({ _id }: ProviderKey): Promise<void> => {
    await run((call) => call('POST', `/api/api-keys/${_id}/set-active`, {}));
    list.reload();
  };
  const remove = async ({ _id, name }: ProviderKey): Promise<void> => {
    const text = 'Your requests to this provider use the key of the server again, if it has one.';
    if ((await ask({ title: `Delete “${name}”?`, text, action: 'Delete', isDanger: true })) === undefined)
      return;
    await run((call) => call('DELETE', `/api/api-keys/${_id}/delete`));
    list.reload();
  };
  // The operations exist only where the server can encrypt.
  const isMissing = list.status === 404;
  return (
    <View
      title="Provider keys"
      lead="Your own keys for model providers. Your requests use the active key of a provider instead of the server's."
      actions={
        !isMissing && (
          <button type="button" class="primary" onClick={() => setAdding(true)}>
            <Icon of={Plus} /> Add a key
          </button>
        )
      }
    >
      <ErrorMessage text={error} />
      {isMissing ? (
        <Empty
          icon={PlugZap}
          title="This server stores no provider keys."
          hint="An administrator can enable it: set an encryption key for secrets."
        />
      ) : (
        <Waiting of={list} />
      )}
      <Table
        caption="Your provider keys"
        rows={list.data?.apiKeys}
        getKey={({ _id }) => _id}
        empty={
          <Empty
            icon={PlugZap}
            title="No provider keys yet."
            hint="The server stores a key encrypted and shows only its last four characters."
          />
        }
        columns={[
          { head: 'Name', cell: ({ name }) => name },
          {
            head: 'Provider',
            cell: ({ service }) => SERVICES.find(({ value }) => value === service)?.label ?? service,
          },
          { head: 'Key', cell: ({ keyPreview }) => <code>…{keyPreview}</code> },
          {
            head: 'State',
            cell: ({ isActive }) => <Badge state={isActive ? 'active' : 'inactive'} />,
          },
          { head: 'Last used', cell: ({ lastUsedAt }) => when(lastUsedAt) },
          {
            head: 'Actions',
            isActions: true,
            cell: (key) => (
              <>
                {!key.isActive && (
                  <button type="button" class="small" disabled={busy} onClick={() => void activate(key)}>
                    Use
                  </button>
                )}
                <button type="button" class="small danger-text" onClick={() => void remove(key)}>
                  Delete
                </button>
              </>
            ),
          },
        ]}
      />
      {isAdding && (
        <AddKey
          onClose={() => setAdding(false)}
          onAdded={() => {
            setAdding(false);
            list.reload();
          }}
        />
      )}
    </View>
  );
}

function AddKey({ onClose, onAdded }: { onClose: () => void; onAdded: () => void }) {
  const { busy, error, run } = useAction();
  const add = async (form: HTMLFormElement): Promise<void> => {
    const input = {
      name: getText(form, 'name'),
      service: getText(form, 'service'),
      key: getText(form, 'key'),
    };
    if (await run((call) => call('POST', '/api/api-keys/create', input))) onAdded();
  };
  return (
    <Dialog title="Add a provider key" onClose={onClose}>
      <DialogForm onSubmit={(form) => void add(form)} error={error} busy={busy} submit="Add key">
        <Field label="Provider">
          <select name="service">
            {SERVICES.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Name">
          <input name="name" required maxLength={100} placeholder="Personal" />
        </Field>
        <Field label="Key" hint="Stored encrypted, and never shown again.">
          <input name="key" type="password" required minLength={8} autocomplete="off" />
        </Field>
      </DialogForm>
    </Dialog>
  );
}
