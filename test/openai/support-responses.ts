import type { FunctionTool, ResponseIncludable } from 'openai/resources/responses/responses';

export const QUESTION = { model: 'scripted', input: 'Weather in Oslo?' };

const include: ResponseIncludable[] = ['reasoning.encrypted_content'];

/** Responses are stored unless the request says otherwise. */
export const BOTH: readonly (readonly [
  title: string,
  question: typeof QUESTION & { store?: false; include?: ResponseIncludable[] },
  isStored: boolean,
])[] = [
  ['stored', QUESTION, true],
  ['not stored', { ...QUESTION, store: false, include }, false],
];

/** The tools that `useTools` calls. */
export const FUNCTIONS: FunctionTool[] = [
  {
    type: 'function',
    name: 'weather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
    strict: true,
  },
  { type: 'function', name: 'time', parameters: null, strict: null },
];

interface WireEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly item?: unknown;
  readonly response?: Readonly<Record<string, unknown>>;
}

/** Reads a stream as it is on the wire: each event has the name of its type. */
export async function readEvents(response: Response): Promise<readonly WireEvent[]> {
  const frames = (await response.text()).split('\n\n');
  return frames
    .filter((frame) => frame.startsWith('event: '))
    .map((frame) => {
      const [, name, data] = /^event: (.+)\ndata: (.+)$/.exec(frame) ?? [];
      const event = JSON.parse(data ?? '') as WireEvent;
      if (event.type !== name) throw new Error(`event ${name} has the type ${event.type}`);
      return event;
    });
}
