import type { IconNode } from 'lucide';
import { h } from 'preact';

/** A decorative icon: the control that contains it has the name. */
export function Icon({ of, size = 18 }: { of: IconNode; size?: number }) {
  return (
    <svg
      class="icon"
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
    >
      {of.map(([tag, attributes], at) => h(tag, { key: at, ...attributes }))}
    </svg>
  );
}
