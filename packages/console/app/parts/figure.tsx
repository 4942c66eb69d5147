import { credits } from './format.ts';

/** An amount of credits with its name, in a list with the class `figures`. */
export function Figure({ name, value }: { name: string; value: number }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{credits(value)}</dd>
    </div>
  );
}
