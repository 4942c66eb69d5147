/** What was wrong with answers since the last `takeMismatches`, and how many were checked. */
const seen: { mismatches: string[]; checked: number } = { mismatches: [], checked: 0 };

export function addMismatch(text: string): void {
  seen.mismatches.push(text);
}

/** @returns the mismatches since the last call. The setup of the tests fails a test that has any. */
export function takeMismatches(): readonly string[] {
  return seen.mismatches.splice(0);
}

export function addChecked(): void {
  seen.checked += 1;
}

/** The JSON answers and stream events that were checked in this process. */
export function countChecked(): number {
  return seen.checked;
}
