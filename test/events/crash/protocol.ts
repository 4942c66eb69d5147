import type { EngineAddress } from '../../../packages/sql/test/engines.ts';

/** Where the process kills itself. */
export type CrashPoint =
  /** The intent is stored; nothing is charged. */
  | 'before-settle'
  /** Charged, but the event is not completed. */
  | 'after-settle'
  /** The event is stored, but not delivered. */
  | 'before-delivery'
  /** Delivered, but not marked as delivered. */
  | 'after-delivery';

export interface Crash {
  readonly point: CrashPoint;
  /** Whether the kill applies to the first charge of this operation or to its event. */
  readonly operation: 'chat' | 'completion';
}

export interface Order {
  readonly address: EngineAddress;
  readonly key: string;
  /** The file to which the host writes received events. */
  readonly file: string;
  readonly calls: number;
  readonly crash?: Crash;
}
