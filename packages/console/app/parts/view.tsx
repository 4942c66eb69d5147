import { CircleAlert, type IconNode, LoaderCircle, RotateCw } from 'lucide';
import type { ComponentChildren } from 'preact';
import type { Loaded } from '../hooks.ts';
import { Icon } from './icon.tsx';

interface ViewProps {
  readonly title: string;
  /** What the page is for, in a sentence. */
  readonly lead?: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function View({ title, lead, actions, children }: ViewProps) {
  return (
    <section class="view" aria-labelledby="view-title">
      <header class="view-head">
        <div>
          <h1 id="view-title">{title}</h1>
          {lead !== undefined && <p class="lead">{lead}</p>}
        </div>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

/** An error message; renders nothing without a text. */
export function ErrorMessage({ text, children }: { text: string | undefined; children?: ComponentChildren }) {
  if (text === undefined) return null;
  return (
    <div class="error" role="alert">
      <Icon of={CircleAlert} />
      <div>
        <p>{text}</p>
        {children}
      </div>
    </div>
  );
}

/** The loading state, or the error, of a view. */
export function Waiting({ of: { data, error, reload } }: { of: Loaded<unknown> }) {
  if (error !== undefined) {
    return (
      <ErrorMessage text={error}>
        <button type="button" class="small" onClick={reload}>
          <Icon of={RotateCw} size={15} /> Try again
        </button>
      </ErrorMessage>
    );
  }
  return data === undefined ? (
    <p class="loading" role="status">
      <Icon of={LoaderCircle} /> Loading…
    </p>
  ) : null;
}

interface EmptyProps {
  readonly icon: IconNode;
  readonly title: string;
  readonly hint?: ComponentChildren;
  readonly action?: ComponentChildren;
}

/** What a view shows before it has anything. */
export function Empty({ icon, title, hint, action }: EmptyProps) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon of={icon} size={26} />
      </span>
      <p class="empty-title">{title}</p>
      {hint !== undefined && <p class="quiet">{hint}</p>}
      {action}
    </div>
  );
}

const TONES: Readonly<Record<string, string>> = {
  accepted: 'good',
  active: 'good',
  clean: 'good',
  delivered: 'good',
  published: 'good',
  ready: 'good',
  settled: 'good',
  succeeded: 'good',
  blocked: 'bad',
  disabled: 'bad',
  failed: 'bad',
  refused: 'bad',
};

/** The state of a record. */
export function Badge({ state, children = state }: { state: string; children?: ComponentChildren }) {
  return <span class={`badge ${TONES[state] ?? ''}`}>{children}</span>;
}
