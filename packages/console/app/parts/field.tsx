import { cloneElement, type VNode } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly children: VNode<{ 'aria-describedby'?: string }>;
}

/** A labelled control. The hint is its description, not part of its name: queries by name must not match it. */
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

export function getText(form: HTMLFormElement, name: string): string {
  const value = new FormData(form).get(name);
  return typeof value === 'string' ? value.trim() : '';
}

export function getTexts(form: HTMLFormElement, name: string): string[] {
  return new FormData(form).getAll(name).filter((value) => typeof value === 'string');
}
