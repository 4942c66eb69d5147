interface MeterProps {
  readonly unit: string;
  readonly limit: number;
  readonly spent: number;
  readonly reserved: number;
  readonly left: number;
  readonly show: (amount: number) => string;
}

/** A bar of what is spent and reserved, next to each other, against the limit; the text has the same amounts. */
export function Meter({ unit, limit, spent, reserved, left, show }: MeterProps) {
  // Sums above the limit fill the bar.
  const whole = Math.max(limit, spent + reserved);
  const part = (amount: number): string => `${(amount / whole) * 100}%`;
  return (
    <div class="meter">
      <svg aria-hidden="true">
        <rect class="spent" width={part(spent)} height="100%" />
        <rect class="reserved" x={part(spent)} width={part(reserved)} height="100%" />
      </svg>
      <ul>
        <li>
          <i class="spent" />
          {show(spent)} spent
        </li>
        <li>
          <i class="reserved" />
          {show(reserved)} reserved
        </li>
        <li>
          {show(left)} left of {show(limit)} {unit}
        </li>
      </ul>
    </div>
  );
}
