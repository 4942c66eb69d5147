import { getThinkingText, packThinking } from '@questline/core/internal';
import type { AnswerPart, AnswerSource, ModelPart, ThinkingBlock } from '@questline/core/ports';
import { findAnnotations } from './annotations.ts';
import { toCallEvents } from './calls.ts';
import { toMcpApproval, toMcpList } from './mcp-items.ts';
import { endServerItem, packServerCall, type ServerToolItem, toServerItem } from './server-items.ts';
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
  /** What the client asks the items to include. */
  readonly include: readonly string[];
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
  /** A tool of the server runs. */
  #running: ServerToolItem | undefined;
  /** What the tools of the server have found. */
  readonly #sources: AnswerSource[] = [];

  constructor(options: ItemWriterOptions) {
    this.#options = options;
  }

  add(part: AnswerPart): void {
    switch (part.type) {
      case 'server_tool_call':
        this.#startServerCall(part);
        return;
      case 'server_tool_result':
        this.#endServerCall(part);
        return;
      case 'server_tool_list':
        this.#listTools(part);
        return;
      case 'server_tool_approval':
        this.close();
        this.#whole(toMcpApproval(part, this.#itemId));
        return;
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
    const running = this.#running;
    this.#running = undefined;
    if (running !== undefined) this.#done(this.output.length, { ...running, status: 'failed' });
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
    const annotations = findAnnotations(text, this.#sources);
    const part = toTextPart(text, annotations);
    for (const [annotation_index, annotation] of annotations.entries()) {
      this.#emit('response.output_text.annotation.added', { ...place, annotation_index, annotation });
    }
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
    const { tools } = this.#options;
    const { begun, progress, done } = toCallEvents(part, tools, this.#itemId);
    this.#emit('response.output_item.added', { output_index: index, item: begun });
    for (const [type, fields] of progress) {
      this.#emit(type, { item_id: done.id, output_index: index, ...fields });
    }
    this.#done(index, done);
  }

  #startServerCall(part: Extract<AnswerPart, { type: 'server_tool_call' }>): void {
    this.close();
    const index = this.output.length;
    const item = toServerItem(part, this.#itemId);
    this.#running = item;
    const place = { item_id: item.id, output_index: index };
    const begun = item.type === 'mcp_call' ? { ...item, arguments: '' } : item;
    this.#emit('response.output_item.added', { output_index: index, item: begun });
    this.#emit(`response.${item.type}.in_progress`, place);
    if (item.type !== 'mcp_call') {
      this.#emit(`response.${item.type}.searching`, place);
      return;
    }
    this.#emit('response.mcp_call_arguments.delta', { ...place, delta: item.arguments });
    this.#emit('response.mcp_call_arguments.done', { ...place, arguments: item.arguments });
  }

  #endServerCall(part: Extract<AnswerPart, { type: 'server_tool_result' }>): void {
    const item = this.#running;
    if (item === undefined) return;
    this.#running = undefined;
    const index = this.output.length;
    const place = { item_id: item.id, output_index: index };
    if (!part.isError) this.#emit(`response.${item.type}.completed`, place);
    else if (item.type === 'mcp_call') this.#emit('response.mcp_call.failed', place);
    this.#sources.push(...part.sources);
    this.#done(index, endServerItem(item, part, this.#options.include));
    if (!this.#options.includesReasoning) return;
    // The client returns it, so that the model has the result in later responses.
    const record = { id: this.#id('rs'), type: 'reasoning' as const, summary: [] };
    this.#emit('response.output_item.added', { output_index: index + 1, item: record });
    this.#done(index + 1, { ...record, encrypted_content: packServerCall(part) });
  }

  #listTools(part: Extract<AnswerPart, { type: 'server_tool_list' }>): void {
    this.close();
    const item = toMcpList(part, this.#itemId);
    const place = { item_id: item.id, output_index: this.output.length };
    this.#emit('response.output_item.added', {
      output_index: place.output_index,
      item: { ...item, tools: [] },
    });
    this.#emit('response.mcp_list_tools.in_progress', place);
    this.#emit(`response.mcp_list_tools.${part.error === undefined ? 'completed' : 'failed'}`, place);
    this.#done(place.output_index, item);
  }

  /** Adds an item that has no events between its begin and its end. */
  #whole(item: ResponseItem): void {
    const index = this.output.length;
    this.#emit('response.output_item.added', { output_index: index, item });
    this.#done(index, item);
  }

  #done(index: number, item: ResponseItem): void {
    this.output.push(item);
    this.#emit('response.output_item.done', { output_index: index, item });
  }

  #emit(type: string, fields: Readonly<Record<string, unknown>>): void {
    this.#options.sink(type, fields);
  }

  #id(prefix: string): string {
    return `${prefix}_${this.#itemId}`;
  }

  /** The end of the id of the next item. */
  get #itemId(): string {
    return `${this.#options.id}_${this.output.length}`;
  }
}

function toPlace({ id, index }: OpenItem): { readonly item_id: string; readonly output_index: number } {
  return { item_id: id, output_index: index };
}

function toTextPart(text: string, annotations: TextPart['annotations'] = []): TextPart {
  return { type: 'output_text', text, annotations, logprobs: [] };
}
