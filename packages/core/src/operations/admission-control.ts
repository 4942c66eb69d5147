import { ApiError } from '../shared/errors.ts';

/** Retry-After in seconds: the expected time until a process accepts work again. */
const COME_BACK_SECONDS = 5;

/** Admission control: a server that shuts down completes its running work and rejects new work. */
export interface AdmissionControl {
  /** @throws ApiError 503 with `Retry-After` while closed. */
  admit(): void;
  close(): void;
  open(): void;
}

export function createAdmissionControl(): AdmissionControl {
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
