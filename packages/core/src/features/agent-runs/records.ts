import { defineCollection, type StoredRecord } from '../../ports/store.ts';
import type { DialogueRequest } from '../conversation/turn-input.ts';

/*
 * An agent run is a quest of its own kind: claimed, fenced, paid for, stopped and recovered like any other. In addition
 * it has steps, one record each.
 */

/** The quest kind of agent runs. */
export const AGENT_EXECUTION = 'agent-execution';

export type StepType = 'thought' | 'action' | 'observation' | 'final_answer';

/** One step of a run. Its id consists of the run's id and the step's number, so that no step is written twice. */
export interface StepRecord extends StoredRecord {
  readonly executionId: string;
  readonly sessionId: string;
  /** Position among the run's steps, from 0. */
  readonly number: number;
  readonly type: StepType;
  /** The thought or observation; for an action, the tool's input as JSON. */
  readonly content: string;
  /** The model round of this step, from 1. */
  readonly iteration: number;
  readonly toolName?: string;
}

export const STEPS = defineCollection<StepRecord>({
  name: 'execution_steps',
  columns: { executionId: 'text', sessionId: 'text', number: 'integer' },
  unique: [['executionId', 'number']],
  indexes: [['executionId', 'number'], ['sessionId']],
});

/** One run slot of a user. Its id consists of the user's id and the slot's number. */
export interface ExecutionSlotRecord extends StoredRecord {
  readonly executionId: string;
  /** Until then, in epoch milliseconds, the slot is in use without its run, which another step stores. */
  readonly heldUntil?: number | undefined;
}

export const EXECUTION_SLOTS = defineCollection<ExecutionSlotRecord>({
  name: 'execution_places',
  columns: { executionId: 'text' },
  unique: [],
  indexes: [],
});

/** An accepted run: the input of its worker. Plain JSON. */
export interface ExecutionRequest extends DialogueRequest {
  readonly maxIterations: number;
  readonly agentId?: string;
  /** Ids of tools: offered, and approved in advance. */
  readonly approvedTools?: readonly string[];
  /** Calls of other gated tools wait for the user. */
  readonly approvals?: true;
  /** The run may create artifacts. */
  readonly makesArtifacts?: true;
  /** The run may create tables of data. */
  readonly makesTables?: true;
}
