/** The reason to stop a job: its lease is lost and another worker may run it, or the process is shutting down. */
export class JobInterrupted extends Error {
  override readonly name = 'JobInterrupted';
  readonly reason: 'lease-lost' | 'stopping';
  constructor(reason: 'lease-lost' | 'stopping') {
    super(`the job was interrupted: ${reason}`);
    this.reason = reason;
  }
}

export function isJobInterrupted(error: unknown): error is JobInterrupted {
  return error instanceof Error && error.name === 'JobInterrupted' && 'reason' in error;
}
