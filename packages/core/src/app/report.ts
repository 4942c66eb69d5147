import type { Incident } from '../shared/incident.ts';

/** An error in the host's `onError` must not fail a response. */
export function quietly(report: ((incident: Incident) => void) | undefined): (incident: Incident) => void {
  if (report === undefined) return () => undefined;
  // A failure may pass several places that report it.
  const reportedFor = new WeakMap<object, string>();
  return (incident) => {
    const { error, requestId } = incident;
    if (typeof error === 'object' && error !== null && requestId !== '') {
      if (reportedFor.get(error) === requestId) return;
      reportedFor.set(error, requestId);
    }
    try {
      report(incident);
    } catch {
      // The host's reporter failed; there is no other.
    }
  };
}
