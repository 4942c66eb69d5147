import { getThinkingText, packThinking } from '@questline/core/internal';
import type { ModelPart, ThinkingBlock } from '@questline/core/ports';
import { toCallEvents } from './calls.ts';
import type { ToolTable } from './tools.ts';
import type { ResponseItem, SummaryPart, TextPart } from './wire.ts';

/** Receives the events of the items of a response, in order. */
export type ItemSink = (type: string, fields: Readonly<Record<string, unknown>>) => void;

export interface ItemWriterOptions {
  /** The part of the item ids that belongs to the response. */
  readonly id: string;
  readonly tools: Pick<ToolTable, 'find'>;
  /** Whether reasoning items have `encrypted_content`. */
  readonly includesReasoning: boolean;
  readonly sink: ItemSink;
}

/** The item that text is added to. */
interface OpenItem {
  readonly kind: 'message' | 'reasoning';
  readonly id: string;
  readonly index: number;
  text: string;
}

/**
 * Divides the parts of an answer into items. Text and reasoning are passed on as they come; a call is passed on when it is
 * complete, because several clients run the calls that they have when a stream breaks off. A class, because its methods run
 * once per part.
 */
export class ItemWriter {
  /** The complete items. */
  readonly output: ResponseItem[] = [];
  readonly #options: ItemWriterOptions;
  #open: OpenItem | undefined;
  /** Text that arrived since the last delta. */
  #pending = '';
  /** Reasoning was shown whose block has not arrived. */
  #awaitsBlock = false;

  constructor(options: ItemWriterOptions) {
    this.#options = options;
  }

  add(part: ModelPart): void {
    switch (part.type) {
      case 'text':
        if (part.text === '') return;
        if (this.#open?.kind !== 'message') this.#startMessage();
        this.#pending += part.text;
        return;
      case 'thinking_delta':
        if (part.text === '') return;
        if (this.#open?.kind !== 'reasoning') this.#startReasoning();
        this.#awaitsBlock = true;
        this.#pending += part.text;
        return;
      case 'thinking':
        this.#endThought(part.block);
        return;
      case 'tool_use':
        this.#call(part);
        return;
      case 'tool_use_delta':
      case 'usage':
      case 'finish':
        return;
    }
  }

  /** Passes on what is pending. */
  flush(): void {
    const open = this.#open;
    if (this.#pending === '' || open === undefined) return;
    const delta = this.#pending;
    this.#pending = '';
    open.text += delta;
    if (open.kind === 'message') {
      this.#emit('response.output_text.delta', { ...toPlace(open), content_index: 0, delta, logprobs: [] });
    } else {
      this.#emit('response.reasoning_summary_text.delta', { ...toPlace(open), summary_index: 0, delta });
    }
  }

  /** Ends the open item. @param status of a message: `incomplete` if the answer ends within it. */
  close(status: 'completed' | 'incomplete' = 'completed'): void {
    const open = this.#open;
    if (open === undefined) return;
    this.flush();
    this.#open = undefined;
    if (open.kind === 'message') this.#endMessage(open, status);
    else this.#endReasoning(open, undefined);
  }

  #begin(kind: OpenItem['kind'], prefix: string): OpenItem {
    this.close();
    const index = this.output.length;
    const open = { kind, id: this.#id(prefix), index, text: '' };
    this.#open = open;
    return open;
  }

  #startMessage(): void {
    const open = this.#begin('message', 'msg');
    const item = { id: open.id, type: 'message', status: 'in_progress', role: 'assistant', content: [] };
    this.#emit('response.output_item.added', { output_index: open.index, item });
    const place = { ...toPlace(open), content_index: 0 };
    this.#emit('response.content_part.added', { ...place, part: toTextPart('') });
  }

  #endMessage(open: OpenItem, status: 'completed' | 'incomplete'): void {
    const { id, index, text } = open;
    const place = { ...toPlace(open), content_index: 0 };
    const part = toTextPart(text);
    this.#emit('response.output_text.done', { ...place, text, logprobs: [] });
    this.#emit('response.content_part.done', { ...place, part });
    this.#done(index, { id, type: 'message', status, role: 'assistant', content: [part] });
  }

  #startReasoning(): void {
    const open = this.#begin('reasoning', 'rs');
    const item = { id: open.id, type: 'reasoning', summary: [] };
    this.#emit('response.output_item.added', { output_index: open.index, item });
    const part: SummaryPart = { type: 'summary_text', text: '' };
    this.#emit('response.reasoning_summary_part.added', { ...toPlace(open), summary_index: 0, part });
  }

  #endReasoning(open: OpenItem, block: ThinkingBlock | undefined): void {
    const { id, index, text } = open;
    const place = { ...toPlace(open), summary_index: 0 };
    const part: SummaryPart = { type: 'summary_text', text };
    this.#emit('response.reasoning_summary_text.done', { ...place, text });
    this.#emit('response.reasoning_summary_part.done', { ...place, part });
    this.#done(index, { id, type: 'reasoning', summary: [part], ...this.#encrypt(block) });
  }

  /** A block that arrives after the text that follows its reasoning is an item of its own. */
  #endThought(block: ThinkingBlock): void {
    const wasShown = this.#awaitsBlock;
    this.#awaitsBlock = false;
    if (!wasShown) {
      const text = getThinkingText(block);
      if (text !== '') {
        this.#startReasoning();
        this.#pending = text;
      }
    }
    const open = this.#open;
    if (open?.kind === 'reasoning') {
      this.flush();
      this.#open = undefined;
      this.#endReasoning(open, block);
    } else if (this.#options.includesReasoning) {
      this.close();
      const index = this.output.length;
      const item = { id: this.#id('rs'), type: 'reasoning' as const, summary: [] };
      this.#emit('response.output_item.added', { output_index: index, item });
      this.#done(index, { ...item, ...this.#encrypt(block) });
    }
  }

  #encrypt(block: ThinkingBlock | undefined): { encrypted_content?: string } {
    if (block === undefined || !this.#options.includesReasoning) return {};
    return { encrypted_content: packThinking(block) };
  }

  #call(part: Extract<ModelPart, { type: 'tool_use' }>): void {
    this.close();
    const index = this.output.length;
    const { tools, id } = this.#options;
    const { begun, progress, done } = toCallEvents(part, tools, `${id}_${index}`);
    this.#emit('response.output_item.added', { output_index: index, item: begun });
    for (const [type, fields] of progress) {
      this.#emit(type, { item_id: done.id, output_index: index, ...fields });
    }
    this.#done(index, done);
  }

  #done(index: number, item: ResponseItem): void {
    this.output.push(item);
    this.#emit('response.output_item.done', { output_index: index, item });
  }

  #emit(type: string, fields: Readonly<Record<string, unknown>>): void {
    this.#options.sink(type, fields);
  }

  #id(prefix: string): string {
    return `${prefix}_${this.#options.id}_${this.output.length}`;
  }
}

function toPlace({ id, index }: OpenItem): { readonly item_id: string; readonly output_index: number } {
  return { item_id: id, output_index: index };
}

function toTextPart(text: string): TextPart {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}
