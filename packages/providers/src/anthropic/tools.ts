import type { GenerateRequest, ModelContent } from '@questline/core/ports';
import type { ModelFamily } from './families.ts';

type Json = Record<string, unknown>;

/** The offered tools, and whether the model may, must or must not call them. */
export interface OfferedTools {
  readonly tools: Json[];
  readonly choice?: Json;
}

/**
 * @param hasBudget the model thinks within a budget; it cannot be made to call a tool then.
 * @see https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use
 */
export function offeredTools(
  request: GenerateRequest,
  family: ModelFamily,
  hasBudget: boolean,
): OfferedTools {
  const { tools = [], toolChoice, parallelToolCalls } = request;
  if (tools.length === 0) return toolsOfHistory(request);
  const oneByOne = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {};
  const canForce = family.forcedTools && !hasBudget;
  const all = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: parameters,
  }));
  if (toolChoice === 'none') return { tools: all, choice: { type: 'none' } };
  if (toolChoice === 'required' && canForce) return { tools: all, choice: { type: 'any', ...oneByOne } };
  if (typeof toolChoice === 'object') {
    const { name } = toolChoice;
    if (canForce) return { tools: all, choice: { type: 'tool', name, ...oneByOne } };
    // The closest substitute for a forced call: offer only this tool.
    return { tools: all.filter((tool) => tool.name === name), choice: { type: 'auto', ...oneByOne } };
  }
  return parallelToolCalls === false ? { tools: all, choice: { type: 'auto', ...oneByOne } } : { tools: all };
}

/** The API refuses a history with calls of tools unless tools are defined: those it names are, and must not be called. */
function toolsOfHistory({ messages }: GenerateRequest): OfferedTools {
  const names = new Set(messages.flatMap(({ content }) => content.flatMap(toolName)));
  if (names.size === 0) return { tools: [] };
  const tools = [...names].map((name) => ({
    name,
    description: 'No longer available.',
    input_schema: { type: 'object' },
  }));
  return { tools, choice: { type: 'none' } };
}

function toolName(piece: ModelContent): string | readonly never[] {
  if (piece.type === 'tool_use') return piece.name;
  return piece.type === 'tool_result' ? piece.toolName : [];
}
