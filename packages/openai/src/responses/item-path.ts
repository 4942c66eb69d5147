/** The path of an item for error messages. @param earlier the number of items of earlier responses. */
export function toItemPath(index: number, earlier: number): string {
  return index < earlier ? 'previous_response_id' : `input.${index - earlier}`;
}
