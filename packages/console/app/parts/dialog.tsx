import { X } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';
import { ErrorMessage } from './view.tsx';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}

/** A modal dialog. The native element traps the focus and restores it. */
export function Dialog({ title, onClose, isWide = false, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    // The first field, not the closing button.
    dialog?.querySelector<HTMLElement>('input, select, textarea')?.focus();
  }, []);
  return (
    <dialog
      ref={ref}
      class={isWide ? 'wide' : ''}
      aria-labelledby={id}
      onClose={onClose}
      onMouseDown={(event) => {
        // A press on the backdrop has the dialog itself for a target.
        if (event.target === ref.current) ref.current?.close();
      }}
    >
      <div class="dialog">
        <header>
          <h2 id={id}>{title}</h2>
          <button
            type="button"
            class="ghost icon-only"
            aria-label="Close"
            onClick={() => ref.current?.close()}
          >
            <Icon of={X} />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface FormProps {
  readonly onSubmit: (form: HTMLFormElement) => void;
  readonly error: string | undefined;
  readonly busy: boolean;
  readonly submit: string;
  readonly isDanger?: boolean;
  /** Adds a button that declines. */
  readonly onCancel?: () => void;
  readonly children?: ComponentChildren;
}

/** The form of a dialog: fields, the error, and its buttons. */
export function DialogForm({
  onSubmit,
  error,
  busy,
  submit,
  isDanger = false,
  onCancel,
  children,
}: FormProps) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(event.currentTarget);
      }}
    >
      {children}
      <ErrorMessage text={error} />
      <footer>
        {onCancel !== undefined && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
        <button type="submit" class={isDanger ? 'danger' : 'primary'} disabled={busy}>
          {submit}
        </button>
      </footer>
    </form>
  );
}
