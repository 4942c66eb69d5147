import { defineCollection, type StoredRecord } from '@questline/core';
import type { EngineAddress } from '../engines.ts';

/** What a process is told to do: so many calls at once, all on the round's own names. */
export interface Task {
  readonly kind: 'hold' | 'take' | 'insert' | 'lease';
  readonly round: string;
  readonly calls: number;
  /** Tells this process from the others. */
  readonly process: number;
}

export interface Start {
  readonly address: EngineAddress;
}

/** How many of the calls went through. */
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
