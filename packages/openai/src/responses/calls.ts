import type { ModelPart } from '@questline/core/ports';
import { readCustomInput, type ToolTable } from './tools.ts';
import type { CallOutput } from './wire.ts';

/** A complete call as the client sees it. */
export interface CallEvents {
  /** The item when it begins. */
  readonly begun: object;
  /** The events between the begin and the end: types and fields. */
  readonly progress: readonly (readonly [type: string, fields: object])[];
  readonly done: CallOutput;
}

/** Describes a call of the model as a call of the tool that the client offered. @param id the end of the item id. */
export function toCallEvents(
  { id: call_id, name: modelName, arguments: text }: Extract<ModelPart, { type: 'tool_use' }>,
  tools: Pick<ToolTable, 'find'>,
  id: string,
): CallEvents {
  const { kind = 'function', name = modelName, namespace } = tools.find(modelName) ?? {};
  const about = { call_id, name, ...(namespace !== undefined && { namespace }) };
  const status = 'in_progress' as const;
  switch (kind) {
    case 'function': {
      const item = { id: `fc_${id}`, type: 'function_call' as const, ...about };
      return {
        begun: { ...item, status, arguments: '' },
        progress: [
          ['response.function_call_arguments.delta', { delta: text }],
          ['response.function_call_arguments.done', { name, arguments: text }],
        ],
        done: { ...item, status: 'completed', arguments: text },
      };
    }
    case 'custom': {
      const item = { id: `ctc_${id}`, type: 'custom_tool_call' as const, ...about };
      const input = readCustomInput(text);
      return {
        begun: { ...item, status, input: '' },
        progress: [
          ['response.custom_tool_call_input.delta', { delta: input }],
          ['response.custom_tool_call_input.done', { input }],
        ],
        done: { ...item, status: 'completed', input },
      };
    }
    case 'search': {
      const item = {
        id: `tsc_${id}`,
        type: 'tool_search_call' as const,
        call_id,
        execution: 'client' as const,
      };
      return {
        begun: { ...item, status, arguments: {} },
        progress: [],
        done: { ...item, status: 'completed', arguments: JSON.parse(text) as unknown },
      };
    }
  }
}
