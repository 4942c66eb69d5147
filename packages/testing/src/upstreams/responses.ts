import type { FinishReason, Usage } from '@questline/core/ports';
import { defaultUsage, type Frame, getFinish, type Script, type ScriptStep } from './script.ts';

/*
 * The stream of the Responses API, by the types of the npm package `openai` 7.57.0 (November 2026) and
 * https://developers.openai.com/api/reference/resources/responses/streaming-events.
 */

type Json = Record<string, unknown>;

/** The differences between servers of this protocol. */
export interface ResponsesVendor {
  /** The prefix of the vendor's encrypted reasoning; it rejects others. */
  readonly encryptedPrefix: string;
  error(message: string, code: string): Json;
  /** Arguments of calls arrive in one piece. */
  readonly wholeCalls: boolean;
}

/** Usage in the protocol's format: the input includes the cache, the output includes the reasoning. */
function responsesUsage(usage: Usage): Json {
  const input = (usage.input ?? 0) + (usage.cachedInput ?? 0) + (usage.cacheWrite ?? 0);
  const output = (usage.output ?? 0) + (usage.reasoning ?? 0);
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cachedInput ?? 0,
      cache_write_tokens: usage.cacheWrite ?? 0,
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
    total_tokens: input + output,
  };
}

const INCOMPLETE: Partial<Record<FinishReason, string>> = {
  max_tokens: 'max_output_tokens',
  content_filter: 'content_filter',
  other: 'max_messages',
};

/** The events of a script. */
export function responsesFrames(script: Script, vendor: ResponsesVendor): Frame[] {
  const writer = new ResponseWriter(vendor);
  writer.event({ type: 'response.created', response: { ...head, status: 'in_progress', output: [] } });
  for (const step of script.steps ?? []) {
    writer.step(step);
    if ('error' in step) return writer.frames;
  }
  writer.closeMessage();
  const reason = getFinish(script);
  if (reason === 'none') return writer.frames;
  const incomplete = INCOMPLETE[reason];
  const status = incomplete === undefined ? 'completed' : 'incomplete';
  writer.event({
    type: `response.${status}`,
    response: {
      ...head,
      status,
      incomplete_details: incomplete === undefined ? null : { reason: incomplete },
      output: writer.items,
      usage: responsesUsage(script.usage ?? defaultUsage),
    },
  });
  return writer.frames;
}

/** Shorter than real ones: tests cut streams at every byte. */
const head = { id: 'resp_1', object: 'response', model: 'gpt-test' };

class ResponseWriter {
  readonly frames: Frame[] = [];
  readonly items: Json[] = [];
  readonly #vendor: ResponsesVendor;
  #sequence = 0;
  /** Text of the open message. */
  #message: string | undefined;

  constructor(vendor: ResponsesVendor) {
    this.#vendor = vendor;
  }

  event(value: Json & { type: string }): void {
    const data = JSON.stringify({ ...value, sequence_number: this.#sequence });
    this.#sequence += 1;
    this.frames.push(`event: ${value.type}\ndata: ${data}\n\n`);
  }

  step(step: ScriptStep): void {
    if ('text' in step) {
      this.#text(step.text);
    } else if ('data' in step) {
      this.frames.push(`data: ${step.data}\n\n`);
    } else if ('raw' in step) {
      this.frames.push(step.raw);
    } else if ('wait' in step || 'disconnect' in step) {
      this.frames.push(step);
    } else {
      this.closeMessage();
      if ('thinking' in step) this.#reasoning(step.thinking, step.signature);
      else if ('redacted' in step) this.#reasoning('', step.redacted);
      else if ('tool' in step) this.#call(step);
      else this.event({ type: 'error', ...this.#vendor.error(step.error, step.code) });
    }
  }

  closeMessage(): void {
    const text = this.#message;
    if (text === undefined) return;
    this.#message = undefined;
    const place = this.#place();
    this.event({ type: 'response.output_text.done', ...place, content_index: 0, text });
    this.#done({ ...place.item, content: [{ type: 'output_text', text, annotations: [] }] });
  }

  /** The position of the open item; `item` is its first event. */
  #place(): { item: Json; item_id: string; output_index: number } {
    const item = { id: `msg_${this.items.length}`, type: 'message', role: 'assistant', status: 'completed' };
    return { item, item_id: item.id, output_index: this.items.length };
  }

  #text(delta: string): void {
    const { item, ...place } = this.#place();
    if (this.#message === undefined) {
      this.#message = '';
      this.#added({ ...item, status: 'in_progress', content: [] });
      const part = { type: 'output_text', text: '', annotations: [] };
      this.event({ type: 'response.content_part.added', ...place, content_index: 0, part });
    }
    this.#message += delta;
    // Padding of varying length hides the length of the text from observers of the traffic.
    const obfuscation = 'rXv7kQpL2sd'.slice(0, (delta.length * 7) % 11);
    this.event({ type: 'response.output_text.delta', ...place, content_index: 0, delta, obfuscation });
  }

  #reasoning(summary: string, encrypted: string | undefined): void {
    const output_index = this.items.length;
    const id = `rs_${output_index}`;
    const place = { item_id: id, output_index, summary_index: 0 };
    this.#added({ id, type: 'reasoning', summary: [] });
    if (summary !== '') {
      const part = { type: 'summary_text', text: '' };
      this.event({ type: 'response.reasoning_summary_part.added', ...place, part });
      this.event({ type: 'response.reasoning_summary_text.delta', ...place, delta: summary });
      this.event({ type: 'response.reasoning_summary_text.done', ...place, text: summary });
    }
    this.#done({
      id,
      type: 'reasoning',
      summary: summary === '' ? [] : [{ type: 'summary_text', text: summary }],
      encrypted_content: encrypted ?? `${this.#vendor.encryptedPrefix}${output_index}`,
    });
  }

  #call({ tool, id: call_id, arguments: pieces }: Extract<ScriptStep, { tool: string }>): void {
    const output_index = this.items.length;
    const id = `fc_${output_index}`;
    const args = pieces.join('') || '{}';
    const head = { id, type: 'function_call', call_id, name: tool };
    this.#added({ ...head, arguments: '', status: 'in_progress' });
    const deltas = this.#vendor.wholeCalls || pieces.length === 0 ? [args] : pieces;
    for (const delta of deltas) {
      this.event({ type: 'response.function_call_arguments.delta', item_id: id, output_index, delta });
    }
    this.event({
      type: 'response.function_call_arguments.done',
      item_id: id,
      output_index,
      arguments: args,
    });
    this.#done({ ...head, arguments: args, status: isJson(args) ? 'completed' : 'incomplete' });
  }

  #added(item: Json): void {
    this.event({ type: 'response.output_item.added', output_index: this.items.length, item });
  }

  #done(item: Json): void {
    this.event({ type: 'response.output_item.done', output_index: this.items.length, item });
    this.items.push(item);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
