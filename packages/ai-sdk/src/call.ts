import type {
  LanguageModelV2CallOptions,
  LanguageModelV3CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
} from '@ai-sdk/provider';
import type { GenerateRequest } from '@questline/core';
import type { AiSdkCall, AiSdkLanguageModel } from './models.ts';
import { promptOf } from './prompt.ts';
import { thinkingOf } from './thinking.ts';

/** A request in the words of the newest interface. */
export function callOf(model: AiSdkLanguageModel, request: GenerateRequest, signal: AbortSignal): AiSdkCall {
  const { tools, temperature, responseFormat } = request;
  const { providerOptions, ...thinking } = thinkingOf(model, request);
  return {
    prompt: promptOf(request.messages, model.provider),
    ...thinking,
    ...(temperature !== undefined && { temperature }),
    ...(tools !== undefined &&
      tools.length > 0 && {
        tools: tools.map(({ name, description, parameters }) => ({
          type: 'function' as const,
          name,
          description,
          inputSchema: parameters as LanguageModelV4FunctionTool['inputSchema'],
        })),
        toolChoice: { type: 'auto' as const },
      }),
    ...(responseFormat !== undefined && { responseFormat: formatOf(responseFormat) }),
    providerOptions: { ...vendorOptions(model), ...providerOptions },
    abortSignal: signal,
  };
}

function formatOf(format: NonNullable<GenerateRequest['responseFormat']>): AiSdkCall['responseFormat'] & {} {
  if (format.type === 'json') return { type: 'json' };
  const schema = format.schema as LanguageModelV4FunctionTool['inputSchema'];
  return { type: 'json', name: format.name, schema };
}

/**
 * OpenAI's newer protocol keeps conversations unless told not to, and its package then sends references in place of
 * what we hand back: an edited text would have no effect, and a forged reference might reach another user's text.
 */
function vendorOptions(model: AiSdkLanguageModel): NonNullable<AiSdkCall['providerOptions']> {
  return /^(openai|azure)\b.*\.responses$/.test(model.provider)
    ? { openai: { store: false }, azure: { store: false } }
    : {};
}

/** The same call for versions 2 and 3: files are bare data there, and reasoning is a matter of each vendor's options. */
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
