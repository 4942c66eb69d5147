import type { ModelPart } from '../ports/models.ts';
import type { LiveEvent } from './live-event.ts';

/** Emits the events of one model round. */
export interface LiveRound {
  /** Takes a part of the answer. Text is emitted where it becomes text of the quest. */
  part(part: ModelPart): void;
  /** @param callId the provider's id of the call. */
  result(callId: string, result: { readonly isError?: boolean | undefined }): void;
}

/** Emits the beginning of a round and returns it. @param iteration from 1. */
export type StartLiveRound = (iteration: number) => LiveRound;

export function createLiveRounds(emit: (event: LiveEvent) => void): StartLiveRound {
  return (iteration) => createRound(emit, iteration);
}

function createRound(emit: (event: LiveEvent) => void, iteration: number): LiveRound {
  /** The calls of this round by the provider's id. Providers repeat ids in later rounds. */
  const calls = new Map<string, { readonly id: string; readonly name: string }>();
  const ids: string[] = [];

  const start = (callId: string, name: string): string => {
    const id = `${iteration}.${calls.size}`;
    calls.set(callId, { id, name });
    emit({ type: 'tool-start', id, name });
    return id;
  };

  emit({ type: 'step', iteration });
  return {
    part(part) {
      switch (part.type) {
        case 'thinking_delta':
          if (part.text !== '') emit({ type: 'reasoning', text: part.text });
          break;
        case 'tool_use_delta': {
          const { index, arguments: text } = part;
          if (part.id !== undefined) ids[index] = start(part.id, part.name ?? '');
          const id = ids[index];
          if (id !== undefined && text !== '') emit({ type: 'tool-delta', id, text });
          break;
        }
        case 'tool_use':
          // A provider without progress of calls.
          if (calls.has(part.id)) break;
          emit({ type: 'tool-delta', id: start(part.id, part.name), text: part.arguments });
          break;
        default:
          break;
      }
    },
    result(callId, { isError = false }) {
      const call = calls.get(callId);
      if (call !== undefined) emit({ type: 'tool-result', ...call, isError });
    },
  };
}
