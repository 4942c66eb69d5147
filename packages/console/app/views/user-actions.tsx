import { useState } from 'preact/hooks';
import { useApp } from '../context.ts';
import { useAction } from '../hooks.ts';
import { Dialog, DialogForm } from '../parts/dialog.tsx';
import { Field, getText } from '../parts/field.tsx';
import { credits } from '../parts/format.ts';
import { ErrorMessage } from '../parts/view.tsx';
import type { User } from '../records.ts';

/** What an administrator can change about an account. */
export function UserActions({ user, onChange }: { user: User; onChange: () => void }) {
  const { ask, user: me } = useApp();
  const { busy, error, run } = useAction();
  const [isGranting, setGranting] = useState(false);
  const change = async (
    input: { readonly isAdmin: boolean } | { readonly disabled: boolean },
  ): Promise<void> => {
    await run((call) => call('PUT', `/api/users/${user._id}/access`, input));
    onChange();
  };
  const setRole = async (isAdmin: boolean): Promise<void> => {
    const title = isAdmin
      ? `Make ${user.username} an administrator?`
      : `Take the role from ${user.username}?`;
    const text = isAdmin
      ? 'Administrators change the settings and see all accounts.'
      : 'The account becomes an ordinary one.';
    if ((await ask({ title, text, action: isAdmin ? 'Promote' : 'Demote' })) !== undefined)
      await change({ isAdmin });
  };
  const disable = async (): Promise<void> => {
    const text = 'Its sessions and API keys are rejected within two seconds. Its data stays.';
    const title = `Disable ${user.username}?`;
    if ((await ask({ title, text, action: 'Disable', isDanger: true })) !== undefined)
      await change({ disabled: true });
  };
  const isMe = user._id === me?._id;
  return (
    <>
      <button type="button" class="small" onClick={() => setGranting(true)}>
        Credits
      </button>
      {!isMe && (
        <>
          <button type="button" class="small" disabled={busy} onClick={() => void setRole(!user.isAdmin)}>
            {user.isAdmin ? 'Demote' : 'Promote'}
          </button>
          {user.disabled === true ? (
            <button
              type="button"
              class="small"
              disabled={busy}
              onClick={() => void change({ disabled: false })}
            >
              Enable
            </button>
          ) : (
            <button type="button" class="small danger-text" disabled={busy} onClick={() => void disable()}>
              Disable
            </button>
          )}
        </>
      )}
      <ErrorMessage text={error} />
      {isGranting && <GrantDialog user={user} onClose={() => setGranting(false)} />}
    </>
  );
}

/** Adds credits to an account, or takes some back. */
function GrantDialog({ user: { _id, username }, onClose }: { user: User; onClose: () => void }) {
  // One key per dialog: a repeated request grants once.
  const [key] = useState(() => crypto.randomUUID());
  const [balance, setBalance] = useState<number>();
  const { busy, error, run } = useAction();
  const grant = (form: HTMLFormElement) =>
    run(async (call) => {
      const reason = getText(form, 'reason');
      const input = { credits: Number(getText(form, 'credits')), key, ...(reason !== '' && { reason }) };
      const answer = await call<{ balance: number }>('POST', `/api/users/${_id}/credit-grants`, input);
      setBalance(answer.balance);
    });
  return (
    <Dialog title={`Credits of ${username}`} onClose={onClose}>
      {balance === undefined ? (
        <DialogForm onSubmit={(form) => void grant(form)} error={error} busy={busy} submit="Grant">
          <Field label="Credits" hint="A negative number takes credits back.">
            <input name="credits" type="number" step="any" min={-1_000_000} max={1_000_000} required />
          </Field>
          <Field label="Reason" hint="Stored in the ledger, e.g. the number of an invoice.">
            <input name="reason" maxLength={500} />
          </Field>
        </DialogForm>
      ) : (
        <p role="status">
          {username} can spend {credits(balance)} credits now.
        </p>
      )}
    </Dialog>
  );
}
