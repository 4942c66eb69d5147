import type { FinishReason, Usage } from '@questline/core/ports';
import { refusedByAnthropic } from './anthropic-rules.ts';
import type { Protocol } from './protocol.ts';
import { defaultUsage, type Frame, getFinish, type Script, type ScriptStep, toBytes } from './script.ts';
import { startUpstream } from './server.ts';
import type { Upstream, UpstreamOptions } from './upstream.ts';

const reasons: Record<FinishReason, string> = {
  stop: 'end_turn',
  max_tokens: 'max_tokens',
  tool_use: 'tool_use',
  content_filter: 'refusal',
  other: 'pause_turn',
};

function frame(value: { type: string } & Record<string, unknown>): string {
  return `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
}

/** Usage in the protocol's format: the input excludes cache reads and writes, the output includes the thinking. */
function messageUsage(usage: Usage, output: number): Record<string, unknown> {
  return {
    input_tokens: usage.input ?? 0,
    cache_creation_input_tokens: usage.cacheWrite ?? 0,
    cache_read_input_tokens: usage.cachedInput ?? 0,
    cache_creation: { ephemeral_5m_input_tokens: usage.cacheWrite ?? 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: output,
    service_tier: 'standard',
  };
}

function block(index: number, start: Record<string, unknown>, deltas: Record<string, unknown>[]): Frame[] {
  return [
    frame({ type: 'content_block_start', index, content_block: start }),
    ...deltas.map((delta) => frame({ type: 'content_block_delta', index, delta })),
    frame({ type: 'content_block_stop', index }),
  ];
}

function thinkingBlock(index: number, step: { thinking: string; signature?: string }): Frame[] {
  return block(index, { type: 'thinking', thinking: '', signature: '' }, [
    { type: 'thinking_delta', thinking: step.thinking },
    { type: 'signature_delta', signature: step.signature ?? 'EqQBCgIYAhIM' },
  ]);
}

function toolBlock(index: number, step: Extract<ScriptStep, { tool: string }>): Frame[] {
  const pieces = ['', ...step.arguments].map((partial_json) => ({ type: 'input_json_delta', partial_json }));
  return block(index, { type: 'tool_use', id: step.id, name: step.tool, input: {} }, pieces);
}

/** Adjacent texts are deltas of one block. */
function stepFrames(steps: readonly ScriptStep[]): Frame[] {
  const out: Frame[] = [];
  let index = 0;
  let inText = false;
  const endText = () => {
    if (inText) out.push(frame({ type: 'content_block_stop', index }));
    if (inText) index += 1;
    inText = false;
  };
  for (const step of steps) {
    if ('text' in step) {
      if (!inText) {
        out.push(frame({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } }));
      }
      inText = true;
      out.push(frame({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: step.text } }));
    } else if ('thinking' in step || 'tool' in step || 'redacted' in step) {
      endText();
      if ('thinking' in step) out.push(...thinkingBlock(index, step));
      else if ('tool' in step) out.push(...toolBlock(index, step));
      else out.push(...block(index, { type: 'redacted_thinking', data: step.redacted }, []));
      index += 1;
    } else if ('error' in step) {
      out.push(frame({ type: 'error', error: { type: step.code, message: step.error } }));
      return out;
    } else if ('data' in step) {
      out.push(`data: ${step.data}\n\n`);
    } else if ('raw' in step) {
      out.push(step.raw);
    } else {
      out.push(step);
    }
  }
  endText();
  return out;
}

function frames(script: Script): Frame[] {
  const usage = script.usage ?? defaultUsage;
  const reason = getFinish(script);
  const out: Frame[] = [
    frame({
      type: 'message_start',
      message: {
        id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
        type: 'message',
        role: 'assistant',
        model: 'claude-test',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: messageUsage(usage, 1),
      },
    }),
    frame({ type: 'ping' }),
    ...stepFrames(script.steps ?? []),
  ];
  if (reason === 'none' || script.steps?.some((step) => 'error' in step)) return out;
  const reasoning = usage.reasoning ?? 0;
  out.push(
    frame({
      type: 'message_delta',
      delta: { stop_reason: reasons[reason], stop_sequence: null },
      usage: {
        ...messageUsage(usage, (usage.output ?? 0) + reasoning),
        output_tokens_details: { thinking_tokens: reasoning },
      },
    }),
    frame({ type: 'message_stop' }),
  );
  return out;
}

const anthropicProtocol: Protocol = {
  basePath: '/v1',
  frames,
  answer(_path, body) {
    const message = refusedByAnthropic(body);
    if (message === undefined) return undefined;
    return { status: 400, body: { type: 'error', error: { type: 'invalid_request_error', message } } };
  },
};

/** The stream of a script as bytes. */
export function anthropicStream(script: Script): Buffer {
  return toBytes(frames(script));
}

/** A local server of Anthropic's messages protocol that rejects what the vendor rejects. */
export function createAnthropicUpstream(options?: UpstreamOptions): Promise<Upstream> {
  return startUpstream(anthropicProtocol, options);
}
