import { parseArguments } from '../conversation/turn.ts';

/** The parts of one message, as a reader has received them. */
export interface UiParts {
  /** Nothing has been written. */
  readonly isEmpty: boolean;
  say(type: 'text' | 'reasoning', text: string): void;
  /** A round of the model begins. */
  startStep(): void;
  startTool(id: string, name: string): void;
  addInput(id: string, text: string): void;
  endTool(id: string, isError: boolean): void;
  /** Another attempt continues with this text. */
  restart(text: string): void;
  /** Adds what is missing of the whole text. */
  catchUp(text: string): void;
  /** Ends what is open. */
  close(): void;
}

interface UiTool {
  readonly toolCallId: string;
  readonly toolName: string;
  input: string;
}

const TOOL_FAILED = 'The tool failed.';
const NOT_ENDED = 'The call did not end.';
/** No tool of the page runs them, and the page must not send their results. */
const OF_SERVER = { dynamic: true, providerExecuted: true } as const;

export function createUiParts(
  messageId: string,
  write: (chunk: Readonly<Record<string, unknown>>) => void,
): UiParts {
  const tools = new Map<string, UiTool>();
  let open: { readonly type: 'text' | 'reasoning'; readonly id: string } | undefined;
  let isInStep = false;
  let isEmpty = true;
  let count = 0;
  let attempt = 1;
  /** The text that the reader has, of this attempt. */
  let sent = '';

  const closePart = (): void => {
    if (open !== undefined) write({ type: `${open.type}-end`, id: open.id });
    open = undefined;
  };

  const openStep = (): void => {
    if (!isInStep) write({ type: 'start-step' });
    isInStep = true;
    isEmpty = false;
  };

  const say: UiParts['say'] = (type, text) => {
    if (text === '') return;
    openStep();
    if (open?.type !== type) {
      closePart();
      count += 1;
      open = { type, id: `${type}-${count}` };
      write({ type: `${type}-start`, id: open.id });
    }
    write({ type: `${type}-delta`, id: open.id, delta: text });
    if (type === 'text') sent += text;
  };

  const endTool = (id: string, errorText: string | undefined): void => {
    const tool = tools.get(id);
    if (tool === undefined) return;
    tools.delete(id);
    const { toolCallId, toolName } = tool;
    const input = parseArguments(tool.input) ?? tool.input;
    write({ type: 'tool-input-available', toolCallId, toolName, input, ...OF_SERVER });
    if (errorText !== undefined) write({ type: 'tool-output-error', toolCallId, errorText, ...OF_SERVER });
    // The events do not contain the results.
    else write({ type: 'tool-output-available', toolCallId, output: null, ...OF_SERVER });
  };

  const close = (): void => {
    closePart();
    for (const id of [...tools.keys()]) endTool(id, NOT_ENDED);
    if (isInStep) write({ type: 'finish-step' });
    isInStep = false;
  };

  return {
    get isEmpty() {
      return isEmpty;
    },
    say,
    startStep() {
      close();
      openStep();
    },
    startTool(id, toolName) {
      openStep();
      closePart();
      const toolCallId = `${messageId}.${attempt}.${id}`;
      tools.set(id, { toolCallId, toolName, input: '' });
      write({ type: 'tool-input-start', toolCallId, toolName, ...OF_SERVER });
    },
    addInput(id, text) {
      const tool = tools.get(id);
      if (tool === undefined || text === '') return;
      tool.input += text;
      write({ type: 'tool-input-delta', toolCallId: tool.toolCallId, inputTextDelta: text });
    },
    endTool: (id, isError) => endTool(id, isError ? TOOL_FAILED : undefined),
    restart(text) {
      attempt += 1;
      close();
      if (sent === text) return;
      const missing = text.startsWith(sent) ? text.slice(sent.length) : text;
      sent = text.slice(0, text.length - missing.length);
      say('text', missing);
    },
    catchUp(text) {
      // What the reader has cannot be taken back: another text follows it as a part of its own.
      if (!text.startsWith(sent)) {
        close();
        sent = '';
      }
      say('text', text.slice(sent.length));
    },
    close,
  };
}
