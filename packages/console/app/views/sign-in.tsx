import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiFailure, call } from '../api.ts';
import { useAction } from '../hooks.ts';
import { Fault, Field, textOf } from '../parts/basics.tsx';

/** How far somebody has come. */
interface Stage {
  readonly email: string;
  readonly pendingToken: string;
  readonly code?: string;
  /** There is no account yet: a name is wanted, and an invite unless registration is open. */
  readonly isNew?: boolean;
}

type Verified =
  | { readonly accessToken: string }
  | { readonly registrationRequired: true; readonly pendingToken: string };

/** Signing in by a code in the mail, and registering the first time. */
export function SignIn({ onDone }: { onDone: (token: string) => void }) {
  const [stage, setStage] = useState<Stage>();
  const { busy, error, run } = useAction();
  const form = useRef<HTMLFormElement>(null);
  // Whoever came this far goes on typing in the next field.
  useEffect(() => form.current?.querySelector('input')?.focus(), [stage?.email, stage?.isNew]);

  const send = (form: HTMLFormElement) =>
    run(async () => {
      const email = textOf(form, 'email');
      const { pendingToken } = await call<{ pendingToken: string }>('POST', '/api/otc/send', { email });
      setStage({ email, pendingToken });
    });

  const verify = (form: HTMLFormElement, { email, pendingToken, code = '', isNew = false }: Stage) =>
    run(async () => {
      const wish = isNew
        ? {
            code,
            username: textOf(form, 'username'),
            ...(textOf(form, 'invite') !== '' && { inviteCode: textOf(form, 'invite') }),
          }
        : { code: textOf(form, 'code') };
      try {
        const answer = await call<Verified>('POST', '/api/otc/verify', { email, pendingToken, ...wish });
        if ('accessToken' in answer) onDone(answer.accessToken);
        else setStage({ email, pendingToken: answer.pendingToken, code: wish.code, isNew: true });
      } catch (failure) {
        // Each try costs its token; a refusal that allows another one brings the next.
        const next = failure instanceof ApiFailure ? failure.body.pendingToken : undefined;
        if (typeof next === 'string') setStage({ email, pendingToken: next, ...(isNew && { code, isNew }) });
        throw failure;
      }
    });

  return (
    <main class="door">
      <div>
        <h1>Questline</h1>
        <p class="quiet">
          {stage?.isNew === true ? 'Nearly there: make your account.' : 'Sign in to your workspace.'}
        </p>
        <form
          ref={form}
          onSubmit={(event) => {
            event.preventDefault();
            const filled = event.currentTarget;
            void (stage === undefined ? send(filled) : verify(filled, stage));
          }}
        >
          {stage === undefined && (
            <Field label="E-mail address" hint="We send you a code to sign in with.">
              <input name="email" type="email" required autocomplete="email" />
            </Field>
          )}
          {stage !== undefined && stage.isNew !== true && (
            <Field label="Code" hint={`Six digits, sent to ${stage.email}. They hold for ten minutes.`}>
              <input
                name="code"
                inputMode="numeric"
                required
                autocomplete="one-time-code"
                pattern="[0-9]{6}"
              />
            </Field>
          )}
          {stage?.isNew === true && (
            <>
              <Field label="Your name">
                <input name="username" required maxLength={100} autocomplete="username" />
              </Field>
              <Field label="Invite code" hint="The first account needs none.">
                <input name="invite" autocomplete="off" />
              </Field>
            </>
          )}
          <Fault text={error} />
          <button type="submit" class="main" disabled={busy}>
            {stage === undefined ? 'Send the code' : stage.isNew === true ? 'Create the account' : 'Sign in'}
          </button>
          {stage !== undefined && (
            <button type="button" onClick={() => setStage(undefined)}>
              Another address
            </button>
          )}
        </form>
      </div>
    </main>
  );
}
