import { DONE, frame, KEEP_ALIVE } from '../../http/sse.ts';
import type { FinishReason } from '../../ports/models.ts';
import type { LiveEvent } from '../../runs/live-event.ts';
import { fromFrame } from '../../runs/live-frames.ts';
import type { LiveEncoder } from '../../runs/live-reader.ts';
import type { QuestRecord } from '../../runs/records.ts';
import { toReply } from '../quests/wire.ts';
import { toCreditsPart, toPayloadPart, toQuestPart, toSourceParts, type UiPart } from './ui-data.ts';
import { type ContinuedMessage, createUiParts } from './ui-parts.ts';

/** The finish reasons of the AI SDK. */
const REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  max_tokens: 'length',
  content_filter: 'content-filter',
  tool_use: 'tool-calls',
  other: 'other',
};

const FAILED = 'The answer failed.';

/** A turn, as its reader sees it now. */
export interface UiTurnView {
  readonly quest: QuestRecord;
  /** The files that it created; empty while it runs. */
  readonly files: readonly UiPart[];
}

/**
 * Writes the events of a quest as chunks of the UI message stream of the AI SDK, versions 5 to 7. The id of the message is
 * that of the quest.
 */
export function createUiEncoder(ids: {
  readonly id: string;
  readonly sessionId: string;
  readonly clientTools: ReadonlySet<string>;
  /** Present where the stream continues a message that waited. */
  readonly continued?: ContinuedMessage | undefined;
}): LiveEncoder<UiTurnView> {
  let written = '';
  const write = (chunk: Readonly<Record<string, unknown>>): void => {
    written += frame(chunk);
  };
  /** @returns the chunks since the last call. */
  const take = (): string => {
    const taken = written;
    written = '';
    return taken;
  };
  const parts = createUiParts(ids.id, write, ids.clientTools, ids.continued);

  const apply = (event: LiveEvent): void => {
    switch (event.type) {
      case 'text':
      case 'reasoning':
        parts.say(event.type, event.text);
        break;
      case 'step':
        if (event.step === undefined) parts.startStep();
        break;
      case 'tool-start':
        parts.startTool(event.id, event.name);
        break;
      case 'tool-delta':
        parts.addInput(event.id, event.text);
        break;
      case 'tool-result':
        parts.endTool(event.id, event.isError);
        break;
      case 'approval-decided':
        parts.endShownTool(event.id, event.decision);
        break;
      case 'payload':
        write(toPayloadPart(event.payload, event.index));
        toSourceParts(event.payload).forEach(parts.cite);
        break;
      case 'usage': {
        const { type: _type, ...usage } = event;
        write(toCreditsPart(usage));
        break;
      }
      case 'reset-step':
        parts.restart(event.text);
        break;
      default:
        // An event of a newer version.
        break;
    }
  };

  write({
    type: 'start',
    messageId: ids.id,
    messageMetadata: { questId: ids.id, sessionId: ids.sessionId },
  });
  write(toQuestPart({ ...ids, status: 'running' }));

  return {
    begin: KEEP_ALIVE + take(),
    snapshot(state, _view, text) {
      if (parts.isEmpty()) {
        parts.say('reasoning', state.reasoning);
        for (const { id, name, arguments: input, isError } of state.tools) {
          parts.startTool(id, name);
          parts.addInput(id, input);
          if (isError !== undefined) parts.endTool(id, isError);
        }
        for (const [index, payload] of state.payloads.entries()) apply({ type: 'payload', index, payload });
      }
      parts.catchUp(text);
      return take();
    },
    events(frames) {
      const events = frames.map(fromFrame);
      // A reader that has nothing needs nothing of earlier attempts.
      const reset = parts.isEmpty() ? events.findLastIndex(({ type }) => type === 'reset-step') : -1;
      for (const event of events.slice(Math.max(reset, 0))) apply(event);
      return take();
    },
    end({ quest, files }) {
      files.forEach(parts.addFile);
      const { wait, decided = [] } = quest;
      const waiting = quest.status === 'waiting' && wait !== undefined ? wait.calls : [];
      for (const { id, type } of decided) {
        if (!waiting.some((call) => call.id === id)) parts.endShownTool(id, type);
      }
      for (const call of waiting) parts.requestTool(call);
      parts.close();
      const { promptMeta, status, type, stopReason } = quest;
      write(toQuestPart(quest));
      if (promptMeta !== undefined) write(toCreditsPart(promptMeta));
      const metadata = promptMeta !== undefined && { messageMetadata: promptMeta };
      const isComplete = status !== 'stopped' && type !== 'error';
      const reason = waiting.length > 0 ? 'tool_use' : (stopReason ?? 'stop');
      if (isComplete) write({ type: 'finish', finishReason: REASONS[reason], ...metadata });
      else {
        if (metadata !== false) write({ type: 'message-metadata', ...metadata });
        if (status === 'stopped') write({ type: 'abort', reason: toReply(quest) ?? undefined });
        else {
          write({ type: 'error', errorText: toReply(quest) || FAILED });
          write({ type: 'finish', finishReason: 'error' });
        }
      }
      return take() + DONE;
    },
  };
}
