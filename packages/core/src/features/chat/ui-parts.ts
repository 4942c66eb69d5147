import type { CallDecision, WaitingCall } from '../../runs/records.ts';
import { parseArguments } from '../conversation/json.ts';
import type { UiPart } from './ui-data.ts';

/** The parts of one message, as a reader has received them. */
export interface UiParts {
  /** Nothing has been written. */
  isEmpty(): boolean;
  say(type: 'text' | 'reasoning', text: string): void;
  /** A round of the model begins. */
  startStep(): void;
  startTool(id: string, name: string): void;
  addInput(id: string, text: string): void;
  endTool(id: string, isError: boolean): void;
  /** Adds a source once. */
  cite(source: UiPart): void;
  addFile(file: UiPart): void;
  /** Ends a call that the page showed before this stream. */
  endShownTool(id: string, decision: CallDecision['type']): void;
  /** Shows a call that waits for the page. */
  requestTool(call: WaitingCall): void;
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

/** What a page has of a message that waited. */
export interface ContinuedMessage {
  readonly text: string;
  /** The ids of the waiting calls in the page, by the ids of the calls. */
  readonly toolCallIds: ReadonlyMap<string, string>;
}

/** @param clientTools names of the tools of the page. */
export function createUiParts(
  messageId: string,
  write: (chunk: Readonly<Record<string, unknown>>) => void,
  clientTools: ReadonlySet<string>,
  continued?: ContinuedMessage,
): UiParts {
  const tools = new Map<string, UiTool>();
  const cited = new Set<unknown>();
  let open: { readonly type: 'text' | 'reasoning'; readonly id: string } | undefined;
  let isInStep = false;
  let isEmpty = true;
  let count = 0;
  let attempt = 1;
  /** The text that the reader has, of this attempt. */
  let sent = continued?.text ?? '';
  /** Calls that the page shows already. */
  const shown = new Map(continued?.toolCallIds);

  /** The page runs its own tools, and sends their results. */
  const getPlace = (name: string): object => (clientTools.has(name) ? { dynamic: true } : OF_SERVER);

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
    write({ type: 'tool-input-available', toolCallId, toolName, input, ...getPlace(toolName) });
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

  const parts: UiParts = {
    isEmpty: () => isEmpty,
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
      write({ type: 'tool-input-start', toolCallId, toolName, ...getPlace(toolName) });
    },
    requestTool({ id, tool: name, kind, input }) {
      if (shown.has(id)) return;
      if (!tools.has(id)) parts.startTool(id, name);
      const tool = tools.get(id);
      if (tool === undefined) return;
      tools.delete(id);
      const { toolCallId, toolName } = tool;
      write({ type: 'tool-input-available', toolCallId, toolName, input, ...getPlace(toolName) });
      if (kind === 'approval') {
        write({ type: 'tool-approval-request', approvalId: getApprovalId(messageId, id), toolCallId });
      }
    },
    endShownTool(id, decision) {
      const toolCallId = shown.get(id);
      shown.delete(id);
      if (toolCallId === undefined || decision === 'answer') return;
      if (decision === 'reject') write({ type: 'tool-output-denied', toolCallId });
      else write({ type: 'tool-output-available', toolCallId, output: null, ...OF_SERVER });
    },
    addInput(id, text) {
      const tool = tools.get(id);
      if (tool === undefined || text === '') return;
      tool.input += text;
      write({ type: 'tool-input-delta', toolCallId: tool.toolCallId, inputTextDelta: text });
    },
    cite(source) {
      if (cited.has(source.sourceId)) return;
      cited.add(source.sourceId);
      openStep();
      write(source);
    },
    addFile({ type, url, mediaType, providerMetadata }) {
      openStep();
      // The chunk has no name.
      write({ type, url, mediaType, providerMetadata });
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
  return parts;
}

export function getApprovalId(messageId: string, callId: string): string {
  return `${messageId}.${callId}`;
}
