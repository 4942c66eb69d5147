import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { WebTools } from '../../ports/web.ts';
import { createToolbox } from '../../tools/toolbox.ts';
import { drawingTools } from './builtin/drawing.ts';
import { everydayTools } from './builtin/everyday.ts';
import { webTools } from './builtin/web.ts';
import { TOOL_AUTHORIZATIONS, TOOL_CLIENTS, TOOL_CREDENTIALS } from './credential-records.ts';
import { createToolsHandler } from './handlers.ts';
import { personalTools } from './personal.ts';
import type { Skill } from './skill.ts';
import { createListSkillsHandler } from './skills-handlers.ts';
import { skillTools } from './tool.ts';

interface ToolboxServices {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly web: WebTools;
  readonly skills: readonly Skill[];
}

export const tools = {
  name: 'tools',
  collections: [TOOL_CREDENTIALS, TOOL_AUTHORIZATIONS, TOOL_CLIENTS],
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  routes: (
    services: ServicesFor<typeof createToolsHandler> & ServicesFor<typeof createListSkillsHandler>,
  ) => [createToolsHandler(services), createListSkillsHandler(services)],
  personal: (services: ServicesFor<typeof personalTools>) => personalTools(services),
  tools: ({ clock, ids, web, skills }: ToolboxServices) => [
    createToolbox([
      ...everydayTools({ clock, ids }),
      ...drawingTools(),
      ...webTools(web),
      ...skillTools(skills),
    ]),
  ],
};
