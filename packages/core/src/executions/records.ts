import type { DialogueRequest } from '../dialogues/scene.ts';
import { defineCollection, type StoredRecord } from '../ports/store.ts';

/*
 * A run of an agent is a quest of its own kind: claimed, fenced, paid for, stopped and recovered like any other. What it
 * has beside are its steps, one record each.
 */

/** The kind of quest. */
export const AGENT_EXECUTION = 'agent-execution';

export type StepType = 'thought' | 'action' | 'observation' | 'final_answer';

/** One step of a run. Its id is the run's and its number, so that none is written twice. */
export interface StepRecord extends StoredRecord {
  readonly executionId: string;
  readonly sessionId: string;
  /** Place among the run's steps, from 0. */
  readonly number: number;
  readonly type: StepType;
  /** What was thought or seen; of an action the tool's input as JSON. */
  readonly content: string;
  /** Which round of the model it belongs to, from 1. */
  readonly iteration: number;
  readonly toolName?: string;
}

export const STEPS = defineCollection<StepRecord>({
  name: 'execution_steps',
  columns: { executionId: 'text', sessionId: 'text', number: 'integer' },
  unique: [['executionId', 'number']],
  indexes: [['executionId', 'number'], ['sessionId']],
});

/** One of the places for runs that a user has. Its id is the user's and its number. */
export interface ExecutionPlaceRecord extends StoredRecord {
  readonly executionId: string;
}

export const EXECUTION_PLACES = defineCollection<ExecutionPlaceRecord>({
  name: 'execution_places',
  columns: { executionId: 'text' },
  unique: [],
  indexes: [],
});

/** A run as it was accepted: what its worker is given. Plain JSON. */
export interface ExecutionRequest extends DialogueRequest {
  readonly maxIterations: number;
  readonly agentId?: string;
  /** Ids of tools: offered and approved in advance. */
  readonly approvedTools?: readonly string[];
  /** It may keep what it makes. */
  readonly makesArtifacts?: true;
  /** It may keep tables of data. */
  readonly makesTables?: true;
}
