import * as z from 'zod';
import { invalid } from '../shared/errors.ts';
import { type ApiHeaders, header } from './message.ts';

/** The id of the last frame of a stream. */
export const END_ID = 'end';

/** A position that no stream reaches: a reader that continues there gets a snapshot. */
export const UNKNOWN_POSITION = 999_999_999_999_999;

const POSITION = /^(?:end|\d{1,15})$/;
const EXPECTED = 'must be the id of a frame: a whole number, or `end`';

/** Query of an operation that streams events. */
export const eventsQuery = z.object({
  after: z
    .string()
    .regex(POSITION, EXPECTED)
    .optional()
    .describe('The id of the last frame that you have. The header `Last-Event-ID` has priority.'),
});

/**
 * Returns the position of a reader. Undefined: a new reader. `end`: it has everything.
 * @throws ApiError 422 for a malformed header.
 */
export function getPosition(headers: ApiHeaders, after: string | undefined): number | 'end' | undefined {
  const given = header(headers, 'last-event-id')?.trim() || after;
  if (given === undefined) return undefined;
  if (!POSITION.test(given)) throw invalid('Last-Event-ID', EXPECTED);
  return given === END_ID ? END_ID : Number(given);
}

const text = (description: string) => z.string().describe(description);
const type = <T extends string>(value: T) => z.literal(value).describe('The kind of the event.');
const iteration = z.number().int().describe('The round of the model, from 1; 0 before the first.');
const toolId = text('The id of the call, unique within an attempt.');
const toolName = text('The name of the tool.');
const isError = z.boolean().describe('Whether the call failed.');
const payload = z.object({
  type: text('The kind of the payload.'),
  payload: z
    .unknown()
    .optional()
    .describe('The data that the tool returned for the user interface; its shape depends on the kind.'),
});
const usage = {
  model: text('The id of the model that answers.'),
  usage: z.record(z.string(), z.number()).optional().describe('The billed tokens so far, by kind.'),
  credits: z.number().optional().describe('The credits so far.'),
};

const events = [
  z.object({ type: type('text'), text: text('The next piece of the answer.') }),
  z.object({ type: type('reasoning'), text: text('The next piece of the reasoning.') }),
  z.object({ type: type('tool-start'), id: toolId, name: toolName }),
  z.object({
    type: type('tool-delta'),
    id: toolId,
    text: text('The next piece of the arguments, as JSON text.'),
  }),
  z.object({ type: type('tool-result'), id: toolId, name: toolName, isError }),
  z.object({
    type: type('approval-requested'),
    id: toolId,
    tool: toolName,
    kind: z
      .enum(['approval', 'answer'])
      .describe(
        '`approval`: the call waits for a decision. `answer`: it waits for its result from the client.',
      ),
    input: z.unknown().describe('The input that the model wants to send.'),
  }),
  z.object({
    type: type('approval-decided'),
    id: toolId,
    decision: z.enum(['approve', 'reject', 'edit', 'answer']).describe('The decision about the call.'),
  }),
  z.object({
    type: type('step'),
    iteration,
    step: z
      .object({
        type: text('The kind of the step, as in `steps` of the run.'),
        content: text('The content of the step.'),
        tool_name: text('The tool of the step.').optional(),
      })
      .optional()
      .describe('A recorded step of an agent run. Absent: a round of the model begins.'),
  }),
  z.object({
    type: type('payload'),
    index: z.number().int().describe('The position in `toolPayloads`.'),
    payload: payload.describe('The data at this position; it replaces earlier data.'),
  }),
  z.object({ type: type('usage'), ...usage }),
  z.object({
    type: type('reset-step'),
    text: text('The text that replaces all text so far; the rest so far is void.'),
  }),
] as const;

/** Describes the data of one frame. @param state the body of the operation that polls the same record. */
function toLiveEventSchema(state: z.ZodType) {
  return z.discriminatedUnion('type', [
    z.object({
      type: type('snapshot'),
      text: text('The whole text up to this frame.'),
      reasoning: text('The whole reasoning up to this frame.'),
      iteration,
      tools: z
        .array(
          z.object({
            id: toolId,
            name: toolName,
            arguments: text('The arguments so far, as JSON text.'),
            isError: isError.optional(),
          }),
        )
        .describe('The tool calls so far, in order. A call without `isError` has not ended.'),
      payloads: z.array(payload).describe('The data for the user interface so far, in order.'),
      usage: z.object(usage).optional().describe('All usage so far.'),
      state: state.describe('The record, as its poll operation returns it.'),
    }),
    ...events,
    z.object({
      type: type('end'),
      state: state.describe('The final record, as its poll operation returns it.'),
    }),
  ]);
}

/** The success responses of an operation that streams events. */
export function liveEventsOutput(state: z.ZodType) {
  return getOutput(toLiveEventSchema(state));
}

/** The success responses of an operation that streams the states of a record. */
export function statesOutput(state: z.ZodType) {
  return getOutput(
    z.discriminatedUnion('type', [
      z.object({
        type: type('snapshot'),
        state: state.describe('The record now, as its poll operation returns it.'),
      }),
      z.object({
        type: type('end'),
        state: state.describe('The final record, as its poll operation returns it.'),
      }),
    ]),
  );
}

function getOutput(schema: z.ZodType) {
  return {
    200: {
      description: 'The event stream. Every event has an `id`.',
      contentType: 'text/event-stream',
      schema,
      headers: { 'X-Accel-Buffering': '`no`: proxies must not buffer the stream.' },
    },
    204: { description: 'The work has ended, and the reader has everything.' },
  } as const;
}

export const LIVE_EVENTS_DESCRIPTION =
  'Server-sent events. A new reader first gets a `snapshot`, then the events after it, and at last `end`. To continue after ' +
  'a broken connection, send the id of the last frame in `Last-Event-ID` or `after`: the stream goes on with the next event, ' +
  'or begins with a `snapshot` when the position is unknown. Ignore events of kinds that you do not know.';

export const STATES_DESCRIPTION =
  'Server-sent events: a `snapshot` at the beginning and after each change, and at last `end`. To continue after a broken ' +
  'connection, send the id of the last frame in `Last-Event-ID` or `after`: the stream goes on with the next change.';
