import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { useAction, useLoad } from '../hooks.ts';
import { Dialog, Fault, Field, sure, Table, textOf, View, Waiting, when } from '../parts/basics.tsx';
import type { ApiKey } from '../records.ts';

const PRESETS = [
  { value: 'read', label: 'Read: see everything, change nothing' },
  { value: 'readwrite', label: 'Read and write: see and change records' },
  { value: 'full', label: 'Full: also chat and generate' },
];

type Shown = ApiKey & { readonly key: string };

export function Keys() {
  const [asking, setAsking] = useState(false);
  const [shown, setShown] = useState<Shown>();
  const list = useLoad('keys', (signal) =>
    call<{ apiKeys: readonly ApiKey[] }>('GET', '/api/user-api-keys?limit=100', undefined, signal),
  );
  const { error, run } = useAction();

  const rotate = ({ id, name }: ApiKey): void => {
    if (!sure(`Replace the secret of “${name}”? The old one ends at once.`)) return;
    void run(async () => setShown(await call<Shown>('POST', `/api/user-api-keys/${id}/rotate`, {}))).then(
      list.reload,
    );
  };
  const revoke = ({ id, name }: ApiKey): void => {
    if (!sure(`Revoke “${name}” for good?`)) return;
    void run(() => call('POST', `/api/user-api-keys/${id}/revoke`, {})).then(list.reload);
  };

  return (
    <View
      title="API keys"
      actions={
        <button type="button" class="main" onClick={() => setAsking(true)}>
          New key
        </button>
      }
    >
      <Fault text={error} />
      <Waiting of={list} />
      <Table
        caption="Your keys"
        heads={['Name', 'Begins with', 'Scopes', 'Last used', 'Expires', 'Actions']}
        rows={list.data?.apiKeys}
        empty="No keys yet."
        row={(key) => (
          <tr key={key.id}>
            <th scope="row">{key.name}</th>
            <td>
              <code>{key.keyPrefix}…</code>
            </td>
            <td>{key.scopes.length > 4 ? `${key.scopes.length} scopes` : key.scopes.join(', ')}</td>
            <td>{when(key.lastUsedAt)}</td>
            <td>{key.expiresAt === null ? 'never' : when(key.expiresAt)}</td>
            <td class="row">
              <button type="button" onClick={() => rotate(key)}>
                Rotate
              </button>
              <button type="button" onClick={() => revoke(key)}>
                Revoke
              </button>
            </td>
          </tr>
        )}
      />
      {asking && (
        <NewKey
          onClose={() => setAsking(false)}
          onMade={(made) => {
            setAsking(false);
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
    run(async () => {
      const cap = Number(textOf(form, 'cap'));
      const expires = textOf(form, 'expires');
      onMade(
        await call<Shown>('POST', '/api/user-api-keys', {
          name: textOf(form, 'name'),
          preset: textOf(form, 'preset'),
          ...(cap > 0 && { spendCap: { credits: cap, period: 'month' } }),
          ...(expires !== '' && { expiresAt: new Date(`${expires}T23:59:59`).toISOString() }),
        }),
      );
    });
  return (
    <Dialog title="New API key" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void make(event.currentTarget);
        }}
      >
        <Field label="Name">
          <input name="name" required maxLength={100} />
        </Field>
        <Field label="What it may do">
          <select name="preset">
            {PRESETS.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Credits it may spend in a month" hint="Empty: as many as the account has.">
          <input name="cap" type="number" min="0" step="any" />
        </Field>
        <Field label="Last day" hint="Empty: it does not expire.">
          <input name="expires" type="date" />
        </Field>
        <Fault text={error} />
        <button type="submit" class="main" disabled={busy}>
          Make the key
        </button>
      </form>
    </Dialog>
  );
}

function ShownOnce({ made, onClose }: { made: Shown; onClose: () => void }) {
  const [copied, setCopied] = useState(false);
  return (
    <Dialog title={`The key “${made.name}”`} onClose={onClose}>
      <p>Copy it now. It is shown this once, and kept nowhere in clear.</p>
      <pre class="secret">{made.key}</pre>
      <button
        type="button"
        class="main"
        onClick={() => void navigator.clipboard.writeText(made.key).then(() => setCopied(true))}
      >
        {copied ? 'Copied' : 'Copy'}
      </button>
    </Dialog>
  );
}
