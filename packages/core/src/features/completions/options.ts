import * as z from 'zod';
import { distinctList } from '../../contract/lists.ts';
import { text } from '../../contract/text.ts';

/* Options of a completion, accepted at the top level or in `options`, in two spellings each. */

const MAX_STOPS = 8;
const MAX_STOP_CHARACTERS = 200;

const topP = z.number().min(0).max(1);
const topK = z.int().min(1);
const seed = z.int();
const stopText = text({ min: 1, max: MAX_STOP_CHARACTERS });
const stop = z.union([stopText, distinctList(stopText, { max: MAX_STOPS })]);
const toolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.object({ name: text({ min: 1, max: 128 }).describe('The name of the tool that the model must call.') }),
]);
const reasoningEffort = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']);

/** The camelCase spelling takes precedence. */
export const modelOptions = {
  topP: topP.optional().meta({ description: 'Ignored, like `topK`, by models without sampling options.' }),
  top_p: topP.optional().describe('Another spelling of `topP`.'),
  topK: topK
    .optional()
    .describe('Samples only from this number of most likely tokens, where the model supports it.'),
  top_k: topK.optional().describe('Another spelling of `topK`.'),
  stop: stop
    .optional()
    .meta({ description: 'Texts that end the answer. Some providers accept fewer than 8.' }),
  seed: seed.optional().describe('A number that makes answers more repeatable, where the model supports it.'),
  toolChoice: toolChoice.optional().meta({
    description: 'Whether the model may, must or must not call a tool; `{name}`: that one. Default `auto`.',
  }),
  tool_choice: toolChoice.optional().describe('Another spelling of `toolChoice`.'),
  parallelToolCalls: z.boolean().optional().meta({ description: 'False: one call of a tool at a time.' }),
  parallel_tool_calls: z.boolean().optional().describe('Another spelling of `parallelToolCalls`.'),
  reasoningEffort: reasoningEffort
    .optional()
    .meta({ description: 'A level that the model does not have is replaced by the nearest one.' }),
  reasoning_effort: reasoningEffort.optional().describe('Another spelling of `reasoningEffort`.'),
};

const spelled = z.object(modelOptions);
type Spelled = z.output<typeof spelled>;

/** The options of a request, in one spelling. */
export interface ModelOptions {
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  readonly seed?: number | undefined;
  readonly toolChoice?: Spelled['toolChoice'];
  readonly parallelToolCalls?: boolean | undefined;
  readonly reasoningEffort?: Spelled['reasoningEffort'];
}

/** @param top takes precedence over `options`. */
export function readModelOptions(top: Spelled, options: Spelled): ModelOptions {
  const stopTexts = top.stop ?? options.stop;
  return {
    topP: top.topP ?? top.top_p ?? options.topP ?? options.top_p,
    topK: top.topK ?? top.top_k ?? options.topK ?? options.top_k,
    stop: typeof stopTexts === 'string' ? [stopTexts] : stopTexts,
    seed: top.seed ?? options.seed,
    toolChoice: top.toolChoice ?? top.tool_choice ?? options.toolChoice ?? options.tool_choice,
    parallelToolCalls:
      top.parallelToolCalls ??
      top.parallel_tool_calls ??
      options.parallelToolCalls ??
      options.parallel_tool_calls,
    reasoningEffort:
      top.reasoningEffort ?? top.reasoning_effort ?? options.reasoningEffort ?? options.reasoning_effort,
  };
}
