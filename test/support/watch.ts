/** @returns a list that gets the result or the error of a call when it ends. */
export function watch(call: Promise<unknown>): unknown[] {
  const ended: unknown[] = [];
  call.then(
    (value) => ended.push(value),
    (error: unknown) => ended.push(error),
  );
  return ended;
}
