import { type ComponentChildren, cloneElement, type VNode } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { Loaded } from '../hooks.ts';

/** What went wrong, said once it did. */
export function Fault({ text }: { text: string | undefined }) {
  return (
    <p class="fault" role="alert" hidden={text === undefined}>
      {text}
    </p>
  );
}

/** What a view shows while it has nothing yet, or cannot have it. */
export function Waiting({ of: { data, error } }: { of: Loaded<unknown> }) {
  if (error !== undefined) return <Fault text={error} />;
  return data === undefined ? <p class="quiet">Loading…</p> : null;
}

export function View({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="view" aria-labelledby="view-title">
      <header>
        <h1 id="view-title">{title}</h1>
        <div class="actions">{actions}</div>
      </header>
      {children}
    </section>
  );
}

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A window in the window. The browser's own element keeps the focus inside, and gives it back. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    ref.current?.showModal();
  }, []);
  return (
    <dialog ref={ref} aria-labelledby="dialog-title" onClose={onClose}>
      <h2 id="dialog-title">{title}</h2>
      {children}
      <button type="button" class="close" aria-label="Close" onClick={() => ref.current?.close()}>
        ×
      </button>
    </dialog>
  );
}

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly children: VNode<{ 'aria-describedby'?: string }>;
}

/** A control under its name. The hint is read after it, and is no part of the name: it must not be found by that. */
export function Field({ label, hint, children }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the control is the child. */}
      <label>
        <span>{label}</span>
        {hint === undefined ? children : cloneElement(children, { 'aria-describedby': id })}
      </label>
      {hint !== undefined && <small id={id}>{hint}</small>}
    </div>
  );
}

interface TableProps<T> {
  readonly caption: string;
  readonly heads: readonly string[];
  /** Those of them over numbers. */
  readonly numbers?: readonly string[];
  readonly rows: readonly T[] | undefined;
  readonly empty: string;
  readonly row: (item: T) => ComponentChildren;
}

export function Table<T>({ caption, heads, numbers = [], rows, empty, row }: TableProps<T>) {
  if (rows === undefined) return null;
  if (rows.length === 0) return <p class="quiet empty">{empty}</p>;
  return (
    // Wide tables scroll by themselves; who has no mouse must be able to reach them.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus.
    <section class="scroll" aria-label={caption} tabIndex={0}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col" class={numbers.includes(head) ? 'number' : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{rows.map(row)}</tbody>
      </table>
    </section>
  );
}

/** Asks before something that cannot be undone. */
export function sure(question: string): boolean {
  return confirm(question);
}

export function when(time: string | null): string {
  return time === null
    ? '–'
    : new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

export function credits(amount: number): string {
  return amount.toLocaleString(undefined, { maximumFractionDigits: amount < 1 ? 6 : 2 });
}

export function textOf(form: HTMLFormElement, name: string): string {
  const value = new FormData(form).get(name);
  return typeof value === 'string' ? value.trim() : '';
}
