import * as z from 'zod';
import type { ToolContext, ToolRegistry, ToolResult } from '../../../tools/registry.ts';
import { defineTool } from '../../../tools/tool.ts';
import { createToolbox } from '../../../tools/toolbox.ts';

/** Generates images for turns. It charges by itself, with the payer of the context. */
export interface ImageHook {
  /** Whether an image model is available. Called for every turn with tools: must be fast. */
  isReady(): boolean | Promise<boolean>;
  /** Returns the text for the model, and the payload for the client. */
  generate(input: ImageInput, context: ToolContext): Promise<ToolResult>;
}

/** The image that the model asks for. */
export interface ImageInput {
  readonly prompt: string;
  readonly shape: 'square' | 'portrait' | 'landscape';
}

const IMAGE_INPUT = z.object({
  prompt: z.string().min(1).max(4000),
  shape: z.enum(['square', 'portrait', 'landscape']).default('square'),
});

/** `generate_image`, offered while the hook is ready. */
export function imageTools(hook: ImageHook): ToolRegistry {
  const toolbox = createToolbox([
    defineTool({
      id: 'generate_image',
      description:
        'Generates an image and shows it to the user. Use it only when the user asks for a picture, drawing or photo. Describe ' +
        'the whole image: subject, surroundings, light, style.',
      input: IMAGE_INPUT,
      offered: 'default',
      fits: /\b(?:image|picture|photo|draw|drawing|paint|painting|illustrat\w*|logo|sketch)\b/i,
      run: (input, context) => hook.generate(input, context),
    }),
  ]);
  return {
    list: async (scope) => ((await hook.isReady()) ? toolbox.list(scope) : []),
    find: async (id, scope) => ((await hook.isReady()) ? toolbox.find(id, scope) : undefined),
    select: async (message, scope) => ((await hook.isReady()) ? toolbox.select(message, scope) : []),
    run: (call, context) => toolbox.run(call, context),
  };
}
