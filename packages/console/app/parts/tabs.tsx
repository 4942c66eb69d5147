import { useApp } from '../context.ts';
import { offered, type Place } from '../places.ts';

interface TabsProps {
  readonly label: string;
  readonly places: readonly Place[];
  readonly current: string;
}

/** Links between the pages of one group; nothing on pages of other groups. */
export function Tabs({ label, places, current }: TabsProps) {
  const { hidden } = useApp();
  if (!places.some(({ name }) => name === current)) return null;
  return (
    <nav class="tabs" aria-label={label}>
      <ul>
        {offered(places, hidden).map(({ name, title }) => (
          <li key={name}>
            <a href={`#/${name}`} aria-current={name === current ? 'page' : undefined}>
              {title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
