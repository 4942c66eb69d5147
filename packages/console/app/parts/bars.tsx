import { credits } from './format.ts';

export interface Bar {
  readonly label: string;
  readonly value: number;
}

/** Horizontal bars with their amounts as text. */
export function Bars({ title, bars }: { title: string; bars: readonly Bar[] }) {
  const most = Math.max(...bars.map(({ value }) => value), 0);
  return (
    <figure class="bars">
      <figcaption>{title}</figcaption>
      {most === 0 && <p class="quiet">Nothing yet.</p>}
      <ul>
        {most > 0 &&
          bars.map(({ label, value }) => (
            <li key={label}>
              <span>{label}</span>
              <svg aria-hidden="true">
                <rect width={`${(value / most) * 100}%`} height="100%" rx="3" />
              </svg>
              <span>{credits(value)}</span>
            </li>
          ))}
      </ul>
    </figure>
  );
}
