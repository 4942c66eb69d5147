import * as z from 'zod';
import { CREDIT_CODES } from '../../shared/errors.ts';

export const usage = z.object({
  inputTokens: z.number().int().describe('The tokens of the prompt.'),
  outputTokens: z.number().int().describe('The tokens of the answer, reasoning included.'),
  cacheReadInputTokens: z.number().int().optional().describe('Prompt tokens that were read from the cache.'),
  cacheCreationInputTokens: z
    .number()
    .int()
    .optional()
    .describe('Prompt tokens that were written to the cache.'),
});

export const credits = z.object({
  used: z.number().describe('The charged credits.'),
  usdCost: z.number().describe('The same amount in USD.'),
});

export const stopReason = z
  .string()
  .optional()
  .describe('Why the model stopped, on the last event. `max_tokens`: its output cap cut the answer.');

/** Facts of the last event of an answer. */
const ending = {
  usage: usage.optional().describe('The billed tokens. Only on the last event of the answer.'),
  credits: credits
    .optional()
    .describe(
      'The cost. Only on the last event, while credits are enforced. Absent if the charge could not be settled yet.',
    ),
  stopReason,
};

export const thinking = z
  .array(z.looseObject({ type: z.string().describe('The kind of the block.') }))
  .optional()
  .describe('Blocks of reasoning. Send them back unchanged in the next request.');

const metaEvent = z
  .object({
    type: z.literal('meta').describe('Facts about the request, before the answer.'),
    requestId: z.string().describe('Equals the `X-Request-ID` header.'),
    maxTokens: z
      .number()
      .int()
      .optional()
      .describe('The applied output cap, when the request exceeds the maximum of the model.'),
    ignored: z.array(z.string()).optional().describe('Field names of the request that have no meaning here.'),
  })
  .describe('The first event of a stream.');

const contentEvent = z
  .object({
    type: z.literal('content').describe('A piece of the answer.'),
    text: z.string().describe('The text to append; can be empty on the last event.'),
    thinking,
    ...ending,
  })
  .describe('A piece of the answer.');

export const toolCall = z.object({
  id: z.string().describe('The id of the call, for `tool_use_id` of its result.'),
  name: z.string().describe('The name of the tool.'),
  arguments: z.string().describe('The arguments, as JSON text.'),
});

const reasoningEvent = z
  .object({
    type: z.literal('reasoning').describe('A piece of the reasoning.'),
    text: z.string().describe('The text to append to the reasoning.'),
  })
  .describe(
    'A piece of the reasoning, for people. The blocks to send back are in `thinking` of later events.',
  );

const toolUseDeltaEvent = z
  .object({
    type: z.literal('tool_use_delta').describe('A piece of a tool call.'),
    index: z.number().int().describe('The position of the call in this answer, from 0.'),
    id: z.string().optional().describe('The id of the call, on its first piece.'),
    name: z.string().optional().describe('The name of the tool, on the first piece.'),
    arguments: z.string().describe('The text to append to the arguments.'),
  })
  .describe('A piece of a tool call, while the model writes it. The whole call follows in `tool_use`.');

const toolUseEvent = z
  .object({
    type: z.literal('tool_use').describe('The model calls tools: run them, and send the results.'),
    text: z.string().describe('Text beside the calls; usually empty.'),
    tools: z.array(toolCall).describe('All calls of this turn.'),
    thinking,
    ...ending,
  })
  .describe('All tool calls of the answer, as its last event.');

const errorEvent = z
  .object({
    type: z.literal('error').describe('The answer broke off.'),
    message: z.string().describe('The problem, for people.'),
    requestId: z.string().describe('Equals the `X-Request-ID` header.'),
    code: z.enum(CREDIT_CODES).optional().describe('The code of problems that clients branch on.'),
    usage: ending.usage,
    credits: ending.credits,
  })
  .describe('The end of an answer that broke off.');

/** The `data` of one event: JSON, or the text that ends every stream. */
export const completionEvent = z.union([
  metaEvent,
  contentEvent,
  reasoningEvent,
  toolUseDeltaEvent,
  toolUseEvent,
  errorEvent,
  z.literal('[DONE]').describe('The end of the stream. It is no JSON.'),
]);
