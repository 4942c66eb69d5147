import { getThinkingText, packThinking } from '@questline/core/internal';
import type { FinishReason, ModelPart, ThinkingBlock } from '@questline/core/ports';
import { isVendorBlock } from './thoughts.ts';
import { type BlockDelta, type ContentBlock, toStop, type WireStop } from './wire.ts';

/** Receives the content blocks of an answer, one after the other. */
export interface BlockSink {
  start(index: number, block: ContentBlock): void;
  delta(index: number, delta: BlockDelta): void;
  stop(index: number): void;
}

/**
 * Divides the parts of an answer into content blocks. Thoughts and text are passed on as they come; a tool call is passed on
 * when it is complete, because several clients run the calls that they have when a stream breaks off. A class, because its
 * methods run once per part.
 */
export class BlockWriter {
  readonly #sink: BlockSink;
  #index = -1;
  #open: 'text' | 'thinking' | undefined;
  /** Text or thought that arrived since the last delta. */
  #pending = '';
  /** The thought of the open block. */
  #thought = '';
  #hasThought = false;
  #calls = 0;
  #stopSequence: string | undefined;

  constructor(sink: BlockSink) {
    this.#sink = sink;
  }

  /** @param reason as the provider reports it. */
  describeStop(reason: FinishReason | undefined): WireStop {
    return toStop(reason, this.#calls > 0, this.#stopSequence);
  }

  add(part: ModelPart): void {
    switch (part.type) {
      case 'text':
        if (part.text === '') return;
        if (this.#open !== 'text') this.#start('text', { type: 'text', text: '', citations: null });
        this.#pending += part.text;
        return;
      case 'thinking_delta':
        if (part.text !== '') this.#think(part.text);
        return;
      case 'thinking':
        this.#endThought(part.block);
        return;
      case 'tool_use':
        this.#call(part);
        return;
      case 'finish':
        this.#stopSequence = part.stopSequence;
        return;
      case 'tool_use_delta':
      case 'usage':
        return;
    }
  }

  /** Passes on what is pending. */
  flush(): void {
    if (this.#pending === '') return;
    const pending = this.#pending;
    this.#pending = '';
    this.#sink.delta(
      this.#index,
      this.#open === 'text'
        ? { type: 'text_delta', text: pending }
        : { type: 'thinking_delta', thinking: pending },
    );
  }

  /** Ends the open block. */
  close(): void {
    if (this.#open === undefined) return;
    this.flush();
    this.#open = undefined;
    this.#sink.stop(this.#index);
  }

  #start(kind: 'text' | 'thinking', block: ContentBlock): void {
    this.close();
    this.#index += 1;
    this.#open = kind;
    this.#thought = '';
    this.#sink.start(this.#index, block);
  }

  #whole(block: ContentBlock): void {
    this.close();
    this.#index += 1;
    this.#sink.start(this.#index, block);
  }

  #think(text: string): void {
    if (this.#open !== 'thinking') this.#start('thinking', { type: 'thinking', thinking: '', signature: '' });
    this.#pending += text;
    this.#thought += text;
    this.#hasThought = true;
  }

  #endThought(block: ThinkingBlock): void {
    if (block.type === 'redacted_thinking' && isVendorBlock(block)) {
      this.#whole({ type: 'redacted_thinking', data: block.data as string });
      this.#sink.stop(this.#index);
      return;
    }
    const isOwn = isVendorBlock(block);
    // Blocks of others may repeat text that was passed on before, in another form.
    const text = !isOwn && this.#hasThought ? this.#thought : getThinkingText(block);
    if (!text.startsWith(this.#thought)) this.close();
    if (this.#open !== 'thinking') this.#start('thinking', { type: 'thinking', thinking: '', signature: '' });
    this.#pending += text.slice(this.#thought.length);
    this.flush();
    const signature = isOwn ? String(block.signature) : packThinking(block);
    this.#sink.delta(this.#index, { type: 'signature_delta', signature });
    this.close();
    this.#thought = '';
  }

  #call({ id, name, arguments: text }: Extract<ModelPart, { type: 'tool_use' }>): void {
    this.#calls += 1;
    this.#whole({ type: 'tool_use', id, name, input: {}, caller: { type: 'direct' } });
    this.#sink.delta(this.#index, { type: 'input_json_delta', partial_json: text });
    this.#sink.stop(this.#index);
  }
}
