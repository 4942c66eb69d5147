import type { FinishReason, Usage } from '@questline/core/ports';
import { geminiVideos } from './gemini-videos.ts';
import type { Protocol } from './protocol.ts';
import { defaultUsage, type Frame, getFinish, type Script, type ScriptStep, toBytes } from './script.ts';
import { startUpstream } from './server.ts';
import type { Upstream, UpstreamOptions } from './upstream.ts';

const reasons: Record<FinishReason, string> = {
  stop: 'STOP',
  max_tokens: 'MAX_TOKENS',
  tool_use: 'STOP',
  content_filter: 'SAFETY',
  other: 'OTHER',
};

/** This API ends lines with CR LF. */
function frame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\r\n\r\n`;
}

/** Usage in the protocol's format: the prompt includes cached tokens, the candidates exclude the thinking. */
function usageMetadata(usage: Usage, output: number): Record<string, unknown> {
  const promptTokenCount = (usage.input ?? 0) + (usage.cachedInput ?? 0);
  return {
    promptTokenCount,
    candidatesTokenCount: output,
    totalTokenCount: promptTokenCount + output + (usage.reasoning ?? 0),
    ...(usage.cachedInput !== undefined && { cachedContentTokenCount: usage.cachedInput }),
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: promptTokenCount }],
    ...(usage.reasoning !== undefined && { thoughtsTokenCount: usage.reasoning }),
  };
}

function chunk(parts: unknown[], usage: Usage, output: number, reason?: string): string {
  return frame({
    candidates: [
      {
        content: { parts, role: 'model' },
        ...(reason !== undefined && { finishReason: reason }),
        index: 0,
      },
    ],
    usageMetadata: usageMetadata(usage, output),
    modelVersion: 'gemini-test',
    responseId: 'mAitaLmkHPPlz7IPvtfUqQ4',
  });
}

function stepFrames(step: ScriptStep, usage: Usage): Frame[] {
  if ('text' in step) return [chunk([{ text: step.text }], usage, 1)];
  if ('thinking' in step) {
    const thoughtSignature = step.signature;
    return [
      chunk(
        [{ text: step.thinking, thought: true, ...(thoughtSignature && { thoughtSignature }) }],
        usage,
        0,
      ),
    ];
  }
  if ('tool' in step) {
    const args: unknown = JSON.parse(step.arguments.join('') || '{}');
    const functionCall = { ...(step.id !== '' && { id: step.id }), name: step.tool, args };
    return [chunk([{ functionCall, ...(step.signature && { thoughtSignature: step.signature }) }], usage, 1)];
  }
  if ('error' in step) return [frame({ error: { code: 500, message: step.error, status: step.code } })];
  if ('data' in step) return [`data: ${step.data}\r\n\r\n`];
  if ('raw' in step) return [step.raw];
  // The protocol has no hidden thoughts.
  return 'redacted' in step ? [] : [step];
}

function frames(script: Script): Frame[] {
  const usage = script.usage ?? defaultUsage;
  const out: Frame[] = [];
  for (const step of script.steps ?? []) {
    out.push(...stepFrames(step, usage));
    if ('error' in step) return out;
  }
  const reason = getFinish(script);
  if (reason !== 'none') out.push(chunk([{ text: '' }], usage, usage.output ?? 0, reasons[reason]));
  return out;
}

function embeddings(body: unknown): unknown {
  const { requests } = body as {
    requests: { content: { parts: { text: string }[] }; outputDimensionality?: number }[];
  };
  return {
    embeddings: requests.map(({ content, outputDimensionality = 3 }) => ({
      values: Array.from({ length: outputDimensionality }, (_, place) => {
        return ((content.parts[0]?.text.length ?? 0) + place) / 8;
      }),
    })),
  };
}

const geminiProtocol: Protocol = {
  basePath: '/v1beta',
  frames,
  answer: (path, body, exchange) =>
    path.includes(':batchEmbedContents') ? embeddings(body) : geminiVideos(path, body, exchange),
};

/** The stream of a script as bytes. */
export function geminiStream(script: Script): Buffer {
  return toBytes(frames(script));
}

/** A local server of Gemini's streamed `generateContent`. */
export function createGeminiUpstream(options?: UpstreamOptions): Promise<Upstream> {
  return startUpstream(geminiProtocol, options);
}
