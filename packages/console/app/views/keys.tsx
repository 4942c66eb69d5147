import { KeyRound, Plus } from 'lucide';
import { useState } from 'preact/hooks';
import { useApp } from '../context.ts';
import { useAction, useLoad, useSerialAction } from '../hooks.ts';
import { CopyButton } from '../parts/copy.tsx';
import { Dialog, DialogForm } from '../parts/dialog.tsx';
import { Field, getText, getTexts } from '../parts/field.tsx';
import { when } from '../parts/format.ts';
import { Icon } from '../parts/icon.tsx';
import { ModelChoices } from '../parts/model-choices.tsx';
import { Table } from '../parts/table.tsx';
import { Empty, ErrorMessage, View, Waiting } from '../parts/view.tsx';
import type { ApiKey } from '../records.ts';

/** Useful sets of scopes; the first one is the default. */
const PERMISSIONS = [
  {
    value: 'use',
    label: 'Chat and generate: call models, read and write your records',
    body: {
      scopes: [
        'ai:chat',
        'ai:generate',
        'me:read',
        'notebooks:read',
        'notebooks:write',
        'files:read',
        'files:write',
        'datalake:query',
      ],
    },
  },
  { value: 'chat', label: 'Chat only: call models', body: { scopes: ['ai:chat', 'ai:generate', 'me:read'] } },
  { value: 'read', label: 'Read: view everything, change nothing', body: { preset: 'read' } },
  { value: 'readwrite', label: 'Read and write: view and change records', body: { preset: 'readwrite' } },
  { value: 'full', label: 'Full: everything that a key can do', body: { preset: 'full' } },
];

type Shown = ApiKey & { readonly key: string };

export function Keys() {
  const { ask, root } = useApp();
  const [isCreating, setCreating] = useState(false);
  const [shown, setShown] = useState<Shown>();
  const list = useLoad('keys', (get) => get<{ apiKeys: readonly ApiKey[] }>('/api/user-api-keys?limit=100'));
  const { error, runInTurn } = useSerialAction();

  const rotate = async ({ id, name }: ApiKey): Promise<void> => {
    const text = 'The old secret stops working immediately.';
    if ((await ask({ title: `Replace the secret of “${name}”?`, text, action: 'Replace' })) === undefined)
      return;
    await runInTurn(async (call) =>
      setShown(await call<Shown>('POST', `/api/user-api-keys/${id}/rotate`, {})),
    );
    list.reload();
  };
  const revoke = async ({ id, name }: ApiKey): Promise<void> => {
    const text = 'Programs that use it are rejected from now on. This cannot be undone.';
    if ((await ask({ title: `Revoke “${name}”?`, text, action: 'Revoke', isDanger: true })) === undefined)
      return;
    await runInTurn((call) => call('POST', `/api/user-api-keys/${id}/revoke`, {}));
    list.reload();
  };

  return (
    <View
      title="API keys"
      lead="For programs that call the API in your name."
      actions={
        <>
          <a class="button" href={`${root}/api/v1/docs`} target="_blank" rel="noopener">
            API reference
          </a>
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            <Icon of={Plus} /> New key
          </button>
        </>
      }
    >
      <ErrorMessage text={error} />
      <Waiting of={list} />
      <Table
        caption="Your keys"
        rows={list.data?.apiKeys}
        getKey={({ id }) => id}
        empty={
          <Empty icon={KeyRound} title="No keys yet." hint="Create one to call the API from a program." />
        }
        columns={[
          { head: 'Name', cell: ({ name }) => name },
          { head: 'Prefix', cell: ({ keyPrefix }) => <code>{keyPrefix}…</code> },
          {
            head: 'Scopes',
            cell: ({ scopes }) => (
              <span title={scopes.join('\n')}>
                {scopes.length > 3 ? `${scopes.length} scopes` : scopes.join(', ')}
              </span>
            ),
          },
          { head: 'Last used', cell: ({ lastUsedAt }) => when(lastUsedAt) },
          { head: 'Expires', cell: ({ expiresAt }) => (expiresAt === null ? 'never' : when(expiresAt)) },
          {
            head: 'Actions',
            isActions: true,
            cell: (key) => (
              <>
                <button type="button" class="small" onClick={() => void rotate(key)}>
                  Rotate
                </button>
                <button type="button" class="small danger-text" onClick={() => void revoke(key)}>
                  Revoke
                </button>
              </>
            ),
          },
        ]}
      />
      {isCreating && (
        <NewKey
          onClose={() => setCreating(false)}
          onMade={(made) => {
            setCreating(false);
            setShown(made);
            list.reload();
          }}
        />
      )}
      {shown !== undefined && <ShownOnce made={shown} onClose={() => setShown(undefined)} />}
    </View>
  );
}

function NewKey({ onClose, onMade }: { onClose: () => void; onMade: (made: Shown) => void }) {
  const { busy, error, run } = useAction();
  const make = (form: HTMLFormElement) =>
    run(async (call) => {
      const cap = Number(getText(form, 'cap'));
      const expires = getText(form, 'expires');
      const models = getTexts(form, 'models');
      const permissions = PERMISSIONS.find(({ value }) => value === getText(form, 'permissions'));
      onMade(
        await call<Shown>('POST', '/api/user-api-keys', {
          name: getText(form, 'name'),
          ...permissions?.body,
          ...(models.length > 0 && { models }),
          ...(cap > 0 && { spendCap: { credits: cap, period: 'month' } }),
          ...(expires !== '' && { expiresAt: new Date(`${expires}T23:59:59`).toISOString() }),
        }),
      );
    });
  return (
    <Dialog title="New API key" onClose={onClose}>
      <DialogForm onSubmit={(form) => void make(form)} error={error} busy={busy} submit="Create key">
        <Field label="Name">
          <input name="name" required maxLength={100} placeholder="Where it is used, e.g. laptop" />
        </Field>
        <Field label="Permissions">
          <select name="permissions">
            {PERMISSIONS.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </Field>
        <div class="row">
          <Field label="Monthly credit limit" hint="Leave empty for no limit.">
            <input name="cap" type="number" min="0" step="any" />
          </Field>
          <Field label="Expires on" hint="Leave empty for never.">
            <input name="expires" type="date" />
          </Field>
        </div>
        <ModelChoices summary="Only some models" legend="Without a choice, the key may use all models." />
      </DialogForm>
    </Dialog>
  );
}

function ShownOnce({ made, onClose }: { made: Shown; onClose: () => void }) {
  return (
    <Dialog title={`API key “${made.name}”`} onClose={onClose}>
      <p>Copy the key now. It is shown only once: the server stores only a hash.</p>
      <pre class="secret">{made.key}</pre>
      <footer>
        <CopyButton text={made.key} name="Copy key" label="Copy" />
      </footer>
    </Dialog>
  );
}
