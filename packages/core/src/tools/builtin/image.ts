import * as z from 'zod';
import type { ToolContext, ToolRegistry, ToolResult } from '../registry.ts';
import { defineTool } from '../tool.ts';
import { createToolbox } from '../toolbox.ts';

/** Makes pictures for turns. It pays for them by itself, out of what the context says. */
export interface ImageHook {
  /** Whether there is a model to make them. Asked for every turn with tools: quick. */
  isReady(): boolean | Promise<boolean>;
  /** What the model is told of the picture, and what the client is shown. */
  generate(wish: ImageWish, context: ToolContext): Promise<ToolResult>;
}

export interface ImageWish {
  readonly prompt: string;
  readonly shape: 'square' | 'portrait' | 'landscape';
}

/** `generate_image`, offered while the hook is ready. */
export function imageTools(hook: ImageHook): ToolRegistry {
  const toolbox = createToolbox([
    defineTool({
      id: 'generate_image',
      description:
        'Makes a picture and shows it to the user. Use it only when the user asks for a picture, drawing or photo. Describe ' +
        'the whole picture: subject, surroundings, light, style.',
      input: z.object({
        prompt: z.string().min(1).max(4000),
        shape: z.enum(['square', 'portrait', 'landscape']).default('square'),
      }),
      offered: 'default',
      fits: /\b(?:image|picture|photo|draw|drawing|paint|painting|illustrat\w*|logo|sketch)\b/i,
      run: (wish, context) => hook.generate(wish, context),
    }),
  ]);
  return {
    list: async (scope) => ((await hook.isReady()) ? toolbox.list(scope) : []),
    find: async (id, scope) => ((await hook.isReady()) ? toolbox.find(id, scope) : undefined),
    select: async (message, scope) => ((await hook.isReady()) ? toolbox.select(message, scope) : []),
    run: (call, context) => toolbox.run(call, context),
  };
}
