import { Check, Copy } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

const SHOWN_MS = 2000;

/** Copies a text to the clipboard. With `label`, as a button with words. */
export function CopyButton({ text, name, label }: { text: string; name: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <button
      type="button"
      class={label === undefined ? 'ghost icon-only small' : 'primary'}
      aria-label={label === undefined ? name : undefined}
      title={label === undefined ? name : undefined}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
    >
      <Icon of={copied ? Check : Copy} size={16} />
      {label !== undefined && (copied ? ' Copied' : ` ${label}`)}
    </button>
  );
}
