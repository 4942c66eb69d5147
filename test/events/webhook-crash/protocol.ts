import type { EngineAddress } from '../../../packages/sql/test/engines.ts';

/** Where the process kills itself. */
export type CrashPoint =
  /** The end of the work is committed with its event, but no job exists. */
  | 'after-commit'
  /** The delivery is stored, but not sent. */
  | 'before-send'
  /** The receiver has answered, but the delivery is not marked as delivered. */
  | 'after-send';

export interface Crash {
  readonly point: CrashPoint;
  /** The process crashes when it arrives there for this time. */
  readonly count: number;
}

/** An accelerated clock: `epoch + (Date.now() - since) * speed`. */
export interface FastTime {
  readonly epoch: number;
  readonly since: number;
  readonly speed: number;
}

export interface Order {
  readonly address: EngineAddress;
  readonly time: FastTime;
  readonly userId: string;
  /** The number of jobs that this process ends. */
  readonly jobs: number;
  /** The webhook that must have received everything before the process ends. */
  readonly webhookId: string;
  readonly crash?: Crash;
}
