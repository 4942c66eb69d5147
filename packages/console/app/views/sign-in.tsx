import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiFailure } from '../api.ts';
import { useAction } from '../hooks.ts';
import { Field, getText } from '../parts/field.tsx';
import { ErrorMessage } from '../parts/view.tsx';

/** The progress of a sign-in. */
interface Stage {
  readonly email: string;
  readonly pendingToken: string;
  readonly code?: string;
  /** No account exists yet: a name is needed, and an invite unless registration is open. */
  readonly isNew?: boolean;
}

type Verified =
  | { readonly accessToken: string }
  | { readonly registrationRequired: true; readonly pendingToken: string };

/** Sign-in by e-mail code, and registration at the first sign-in. */
export function SignIn({ onDone }: { onDone: (token: string) => void }) {
  const [stage, setStage] = useState<Stage>();
  const { busy, error, run } = useAction();
  const form = useRef<HTMLFormElement>(null);
  // Each stage focuses its first field.
  useEffect(() => form.current?.querySelector('input')?.focus(), [stage?.email, stage?.isNew]);

  const send = (form: HTMLFormElement) =>
    run(async (call) => {
      const email = getText(form, 'email');
      const { pendingToken } = await call<{ pendingToken: string }>('POST', '/api/otc/send', { email });
      setStage({ email, pendingToken });
    });

  const verify = (form: HTMLFormElement, { email, pendingToken, code = '', isNew = false }: Stage) =>
    run(async (call) => {
      const input = isNew
        ? {
            code,
            username: getText(form, 'username'),
            ...(getText(form, 'invite') !== '' && { inviteCode: getText(form, 'invite') }),
          }
        : { code: getText(form, 'code') };
      try {
        const answer = await call<Verified>('POST', '/api/otc/verify', { email, pendingToken, ...input });
        if ('accessToken' in answer) onDone(answer.accessToken);
        else setStage({ email, pendingToken: answer.pendingToken, code: input.code, isNew: true });
      } catch (failure) {
        // Each attempt uses up its token; an error that allows another attempt contains the next token.
        const next = failure instanceof ApiFailure ? failure.body.pendingToken : undefined;
        if (typeof next === 'string') setStage({ email, pendingToken: next, ...(isNew && { code, isNew }) });
        throw failure;
      }
    });

  return (
    <main class="door">
      <div>
        <img src="icon.svg" alt="" width="40" height="40" />
        <h1>Questline</h1>
        <p class="quiet">
          {stage?.isNew === true ? 'Almost done: create your account.' : 'Sign in to your workspace.'}
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
            <Field label="E-mail address" hint="You receive a sign-in code by e-mail.">
              <input name="email" type="email" required autocomplete="email" />
            </Field>
          )}
          {stage !== undefined && stage.isNew !== true && (
            <Field label="Code" hint={`Six digits, sent to ${stage.email}. The code expires in 10 minutes.`}>
              <input
                name="code"
                inputMode="numeric"
                required
                autocomplete="one-time-code"
                pattern="\s*(?:[0-9]\s*){6}"
              />
            </Field>
          )}
          {stage?.isNew === true && (
            <>
              <Field label="Your name">
                <input name="username" required maxLength={100} autocomplete="username" />
              </Field>
              <Field
                label="Invite code"
                hint="For the first account of a new workspace: the setup code from the terminal."
              >
                <input name="invite" autocomplete="off" />
              </Field>
            </>
          )}
          <ErrorMessage text={error} />
          <button type="submit" class="primary" disabled={busy}>
            {stage === undefined ? 'Send code' : stage.isNew === true ? 'Create account' : 'Sign in'}
          </button>
          {stage !== undefined && (
            <button type="button" class="ghost" onClick={() => setStage(undefined)}>
              Use another address
            </button>
          )}
        </form>
      </div>
    </main>
  );
}
