/** A small program whose changes go on after the test that has found them. */

let isStuck = false;

/** Stops the process in the next test. */
export function leaveWork(): boolean {
  isStuck = false;
  return isStuck;
}

export function doWork(): void {
  while (isStuck);
}

/** Begins promises without an end. */
export function startTurns(): boolean {
  const state = { isEndless: false };
  void repeat(state);
  return state.isEndless;
}

async function repeat(state: { readonly isEndless: boolean }): Promise<void> {
  while (state.isEndless) await undefined;
}

let isDisturbed = false;

export function takeDisturbance(): boolean {
  const was = isDisturbed;
  isDisturbed = false;
  return was;
}

/** Disturbs the next test once. */
export function disturb(): boolean {
  isDisturbed = false;
  return isDisturbed;
}

export function countOn(value: number): number {
  return value + 1;
}
