import * as z from 'zod';
import { text } from '../../contract/text.ts';
import { isApiError } from '../../shared/errors.ts';
import type { ToolContext, ToolRegistry, ToolResult } from '../../tools/registry.ts';
import { answered, defineTool, failed } from '../../tools/tool.ts';
import { createToolbox } from '../../tools/toolbox.ts';
import { type ArtifactMakerServices, changeArtifact, makeArtifact, type NewArtifact } from './artifacts.ts';
import { CREATE_LATTICE, latticeTool } from './lattice.ts';
import { ARTIFACTS, type ArtifactRecord } from './records.ts';

export const CREATE_ARTIFACT = 'create_artifact';

/** The types that a model may create; the other types are reserved for the service. */
const MAKEABLE = [
  'mermaid',
  'recharts',
  'chess',
  'python',
  'react',
  'html',
  'svg',
  'code',
  'blog-draft',
] as const;

const ARTIFACT_INPUT = z.object({
  type: z.enum(MAKEABLE),
  title: text({ min: 1, max: 255 }),
  content: text({ min: 1 }).meta({ description: 'The complete content, without a code fence.' }),
  description: text({ max: 1000 }).optional(),
});

/** `create_artifact` and `create_lattice`: store results of a turn for its user, in its session; offered while artifacts are switched on. */
export function artifactTools(services: ArtifactMakerServices): ToolRegistry {
  const { store, adminSettings } = services;

  /** A turn that is repeated after a crash does not create a second artifact. */
  const keep = async (input: NewArtifact, { userId, callKey }: ToolContext): Promise<ArtifactRecord> => {
    const [known] = await store
      .collection(ARTIFACTS)
      .find({ ownerId: userId, madeBy: callKey }, { limit: 1 });
    if (known === undefined) return makeArtifact(services, userId, { ...input, madeBy: callKey });
    const { title, description, content } = input;
    const changed = await changeArtifact(services, userId, known.id, { title, description, content });
    return changed?.artifact ?? known;
  };

  const keepAndTell = async (input: NewArtifact, context: ToolContext): Promise<ToolResult> => {
    try {
      const { id, type, title, version } = await keep({ ...input, sessionId: context.sessionId }, context);
      const payload = { id, type, title, version };
      return answered(`The artifact ${JSON.stringify(title)} is saved.`, { type: 'artifact', payload });
    } catch (error) {
      if (!isApiError(error)) throw error;
      return failed(`It could not be kept: ${error.message}.`);
    }
  };

  const toolbox = createToolbox([
    defineTool({
      id: CREATE_ARTIFACT,
      description:
        'Saves a complete page, program, diagram, drawing or draft as an artifact of the user. Use it for content that the ' +
        'user will open, change or share later. Do not use it for short examples.',
      input: ARTIFACT_INPUT,
      offered: 'default',
      fits: /\b(?:artifact|page|website|component|script|program|diagram|svg|draft)\b/i,
      run: keepAndTell,
    }),
    latticeTool(keepAndTell),
  ]);

  const isOn = async (): Promise<boolean> => (await adminSettings.current()).EnableArtifacts;
  return {
    list: async (scope) => ((await isOn()) ? toolbox.list(scope) : []),
    find: async (id, scope) =>
      (id === CREATE_ARTIFACT || id === CREATE_LATTICE) && (await isOn())
        ? toolbox.find(id, scope)
        : undefined,
    select: async (message, scope) => ((await isOn()) ? toolbox.select(message, scope) : []),
    run: (call, context) => toolbox.run(call, context),
  };
}
