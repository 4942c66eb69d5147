import type {
  LanguageModelV2CallOptions,
  LanguageModelV3CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
} from '@ai-sdk/provider';
import type { GenerateRequest } from '@questline/core/ports';
import { breakpoint, markTools, takesBreakpoints } from './caching.ts';
import type { AiSdkCall, AiSdkLanguageModel } from './models.ts';
import { toPrompt } from './prompt.ts';
import { toThinking } from './thinking.ts';

/** Converts a request to call options of version 4. */
export function toCall(model: AiSdkLanguageModel, request: GenerateRequest, signal: AbortSignal): AiSdkCall {
  const { temperature, topP, topK, stop = [], seed, responseFormat } = request;
  const { providerOptions, ...thinking } = toThinking(model, request);
  const caches = takesBreakpoints(model.provider) && request.promptCache?.mode !== 'off';
  return {
    prompt: toPrompt(request, model.provider, caches),
    ...thinking,
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(topK !== undefined && { topK }),
    ...(stop.length > 0 && { stopSequences: [...stop] }),
    ...(seed !== undefined && { seed }),
    ...toTools(request, caches),
    ...(responseFormat !== undefined && { responseFormat: getFormat(responseFormat) }),
    providerOptions: joinOptions(vendorOptions(model, request), providerOptions),
    abortSignal: signal,
  };
}

function toTools(request: GenerateRequest, caches: boolean): Pick<AiSdkCall, 'tools' | 'toolChoice'> {
  const tools = (request.tools ?? []).map(
    ({ name, description, parameters }): LanguageModelV4FunctionTool => ({
      type: 'function',
      name,
      description,
      inputSchema: parameters as LanguageModelV4FunctionTool['inputSchema'],
    }),
  );
  if (tools.length === 0) return {};
  const { toolChoice = 'auto' } = request;
  return {
    tools: caches ? markTools(tools, breakpoint(request)) : tools,
    toolChoice:
      typeof toolChoice === 'object' ? { type: 'tool', toolName: toolChoice.name } : { type: toolChoice },
  };
}

function getFormat(format: NonNullable<GenerateRequest['responseFormat']>): AiSdkCall['responseFormat'] & {} {
  if (format.type === 'json') return { type: 'json' };
  const schema = format.schema as LanguageModelV4FunctionTool['inputSchema'];
  return { type: 'json', name: format.name, schema };
}

/**
 * By default, OpenAI's Responses API stores conversations, and its package then sends references instead of our
 * messages: an edited text would have no effect, and a forged reference might reach another user's text.
 */
function vendorOptions(
  { provider }: AiSdkLanguageModel,
  { parallelToolCalls, promptCache }: GenerateRequest,
): VendorOptions {
  const oneByOne = parallelToolCalls === false;
  if (provider.includes('anthropic')) return oneByOne ? { anthropic: { disableParallelToolUse: true } } : {};
  if (!/^(openai|azure)\b/.test(provider)) return {};
  const { key } = promptCache?.mode === 'off' ? {} : (promptCache ?? {});
  const own = {
    ...(provider.endsWith('.responses') && { store: false }),
    ...(oneByOne && { parallelToolCalls: false }),
    ...(key !== undefined && { promptCacheKey: key }),
  };
  return Object.keys(own).length === 0 ? {} : { openai: own, azure: own };
}

type VendorOptions = NonNullable<AiSdkCall['providerOptions']>;

/** Merges the options of one vendor from both sources. */
function joinOptions(one: VendorOptions, other: VendorOptions = {}): VendorOptions {
  const joined: VendorOptions = { ...one };
  for (const [vendor, options] of Object.entries(other)) joined[vendor] = { ...joined[vendor], ...options };
  return joined;
}

/** Converts the call to versions 2 and 3: files are plain data there, and reasoning uses vendor options. */
export function olderCall(call: AiSdkCall): LanguageModelV2CallOptions & LanguageModelV3CallOptions {
  const { reasoning: _, prompt, ...rest } = call;
  return { ...rest, prompt: prompt.map(olderMessage) } as LanguageModelV2CallOptions &
    LanguageModelV3CallOptions;
}

function olderMessage(message: LanguageModelV4Message): unknown {
  if (message.role !== 'user') return message;
  return {
    ...message,
    content: message.content.map((part) =>
      part.type === 'file' && part.data.type === 'data' ? { ...part, data: part.data.data } : part,
    ),
  };
}
