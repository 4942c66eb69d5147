import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface MenuProps {
  /** The name of the button. */
  readonly label: string;
  readonly button: ComponentChildren;
  readonly buttonClass?: string;
  /** Opens above the button. */
  readonly isUp?: boolean;
  readonly isEnd?: boolean;
  readonly children: (close: () => void) => ComponentChildren;
}

/** A button that opens a panel. Escape, a press elsewhere and leaving with the keyboard close it. */
export function Menu({ label, button, buttonClass = '', isUp = false, isEnd = false, children }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const ref = useRef<HTMLDivElement>(null);
  const trigger = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const pressed = (event: PointerEvent): void => {
      if (!ref.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener('pointerdown', pressed);
    return () => removeEventListener('pointerdown', pressed);
  }, [isOpen]);
  const close = (): void => {
    setOpen(false);
    trigger.current?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: listens for Escape from the controls inside.
    <div
      ref={ref}
      class="menu"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen) return;
        event.stopPropagation();
        close();
      }}
      onFocusOut={(event) => {
        const next = event.relatedTarget as Node | null;
        if (next !== null && !ref.current?.contains(next)) setOpen(false);
      }}
    >
      <button
        ref={trigger}
        type="button"
        class={buttonClass}
        aria-label={label}
        aria-expanded={isOpen}
        aria-haspopup="true"
        onClick={() => setOpen(!isOpen)}
      >
        {button}
      </button>
      {isOpen && <div class={`menu-panel${isUp ? ' up' : ''}${isEnd ? ' end' : ''}`}>{children(close)}</div>}
    </div>
  );
}
