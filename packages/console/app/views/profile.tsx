import { useState } from 'preact/hooks';
import { useApp } from '../context.ts';
import { useAction } from '../hooks.ts';
import { Field, getText } from '../parts/field.tsx';
import { ErrorMessage, View } from '../parts/view.tsx';
import type { User } from '../records.ts';

/** The names and the address of the user. */
export function Profile() {
  const { user, onUserChange } = useApp();
  const { busy, error, run } = useAction();
  const [isSaved, setSaved] = useState(false);
  if (user === undefined) return null;
  const save = async (form: HTMLFormElement): Promise<void> => {
    setSaved(false);
    const input = {
      username: getText(form, 'username'),
      firstName: getText(form, 'firstName') || null,
      lastName: getText(form, 'lastName') || null,
    };
    const isDone = await run(async (call) => {
      onUserChange(await call<User>('PATCH', `/api/users/${user._id}`, input));
    });
    setSaved(isDone);
  };
  return (
    <View title="Profile" lead="How other users of this workspace see you.">
      <form
        class="card narrow-card"
        onInput={() => setSaved(false)}
        onSubmit={(event) => {
          event.preventDefault();
          void save(event.currentTarget);
        }}
      >
        <Field label="Name" hint="Shown beside your messages, and in invitations that you send.">
          <input
            name="username"
            required
            maxLength={100}
            autocomplete="nickname"
            defaultValue={user.username}
          />
        </Field>
        <div class="row">
          <Field label="First name">
            <input
              name="firstName"
              maxLength={100}
              autocomplete="given-name"
              defaultValue={user.firstName ?? ''}
            />
          </Field>
          <Field label="Last name">
            <input
              name="lastName"
              maxLength={100}
              autocomplete="family-name"
              defaultValue={user.lastName ?? ''}
            />
          </Field>
        </div>
        <Field label="E-mail address" hint="You sign in with this address.">
          <input type="email" readOnly value={user.email} />
        </Field>
        <ErrorMessage text={error} />
        <div class="actions">
          <button type="submit" class="primary" disabled={busy}>
            Save
          </button>
          <p class="quiet saved" role="status">
            {isSaved && 'Saved.'}
          </p>
        </div>
      </form>
    </View>
  );
}
