import { defineCollection, type StoredRecord } from '@questline/core/ports';
import type { EngineAddress } from '../engines.ts';

/** The work of a process: a number of parallel calls, all with the names of the round. */
export interface Task {
  readonly kind: 'hold' | 'take' | 'insert' | 'lease';
  readonly round: string;
  readonly calls: number;
  /** Distinguishes this process from the others. */
  readonly process: number;
}

export interface Start {
  readonly address: EngineAddress;
}

/** The number of successful calls. */
export interface Answer {
  readonly passed: number;
}

export const CREDIT = 10;
export const CEILING = 60;

export interface Slot extends StoredRecord {
  readonly name: string;
}

export const SLOTS = defineCollection<Slot>({
  name: 'slots',
  columns: { name: 'text' },
  unique: [['name']],
  indexes: [],
});
