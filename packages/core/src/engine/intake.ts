import { ApiError } from '../errors.ts';

/** Seconds until another process, or this one after its restart, will likely take new work. */
const COME_BACK_SECONDS = 5;

/** Whether new work is taken. A server that is about to stop finishes what it has and refuses the rest. */
export interface Intake {
  /** @throws ApiError 503 with `Retry-After` while closed. */
  admit(): void;
  close(): void;
  open(): void;
}

export function createIntake(): Intake {
  let isOpen = true;
  return {
    admit() {
      if (isOpen) return;
      throw new ApiError(503, 'The service is about to restart. Try again shortly.', {
        headers: { 'Retry-After': String(COME_BACK_SECONDS) },
        applicationCode: 'INTERNAL_ERROR',
      });
    },
    close() {
      isOpen = false;
    },
    open() {
      isOpen = true;
    },
  };
}
