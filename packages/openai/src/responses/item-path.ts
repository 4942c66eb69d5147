/** The items before those of a request, and the field that refers to them. */
export interface EarlierItems {
  readonly count: number;
  readonly field: 'previous_response_id' | 'conversation';
}

/** The path of an item for error messages. */
export function toItemPath(index: number, { count, field }: EarlierItems): string {
  return index < count ? field : `input.${index - count}`;
}
