/** A token count of a response: 0 for negative and non-numeric values. */
export function toCount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}
