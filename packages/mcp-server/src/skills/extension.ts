import { createHash } from 'node:crypto';
import { checkOnePage, INVALID_PARAMS, type JsonObject, RpcError } from '../json-rpc.ts';
import { orRefused } from '../refusals.ts';
import type { Runner } from '../runner.ts';
import type { WireSkill } from './operations.ts';
import { findSkills, readSkill } from './read.ts';

/** The extension of the protocol for skills. */
export const SKILLS = 'io.modelcontextprotocol/skills';

const URI = /^skill:\/\/([a-z0-9-]{1,64})\/SKILL\.md$/;
/** Names of the Agent Skills specification. */
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
/** Maximum length of a description there, in characters. */
const MAX_DESCRIPTION = 1024;
const UNKNOWN = 'Skill not found';

export const SKILL_TEMPLATE: JsonObject = {
  uriTemplate: 'skill://{name}/SKILL.md',
  name: 'skill',
  title: 'The instructions of a skill',
  mimeType: 'text/markdown',
};

/** Lists the entries of the skills. A skill whose id or description the format does not permit has none. */
export async function listSkillEntries(params: JsonObject, runner: Runner): Promise<JsonObject> {
  checkOnePage(params);
  const skills = await orRefused(() => findSkills(runner, 'model'), notFound);
  return { skills: skills.filter(isPortable).map(toEntry) };
}

/** @throws RpcError for an unknown skill. */
export async function getSkillEntry({ uri }: JsonObject, runner: Runner): Promise<JsonObject> {
  return { skill: toEntry(await find(uri, runner, notFound)) };
}

export function isSkillUri(uri: string): boolean {
  return URI.test(uri);
}

/** @throws RpcError for an unknown skill. */
export async function readSkillFile(uri: string, runner: Runner, absent: NotFound): Promise<JsonObject> {
  const text = toFile(await find(uri, runner, absent));
  return { contents: [{ uri, mimeType: 'text/markdown', text }] };
}

type NotFound = (message: string) => RpcError;

async function find(uri: unknown, runner: Runner, absent: NotFound): Promise<WireSkill> {
  const [, name] = typeof uri === 'string' ? (URI.exec(uri) ?? []) : [];
  if (name === undefined) throw absent(UNKNOWN);
  const skill = await orRefused(() => readSkill(runner, name, 'model'), absent);
  if (!isPortable(skill)) throw absent(UNKNOWN);
  return skill;
}

function notFound(): RpcError {
  return new RpcError(INVALID_PARAMS, UNKNOWN);
}

function isPortable({ id, description }: WireSkill): boolean {
  return NAME.test(id) && description !== '' && description.length <= MAX_DESCRIPTION;
}

function toUri({ id }: WireSkill): string {
  return `skill://${id}/SKILL.md`;
}

function toFrontmatter({ id, description }: WireSkill) {
  return { name: id, description };
}

/** Text of JSON is text of YAML, too. */
function toFile(skill: WireSkill): string {
  const fields = Object.entries(toFrontmatter(skill)).map(
    ([name, value]) => `${name}: ${JSON.stringify(value)}\n`,
  );
  return `---\n${fields.join('')}---\n\n# ${skill.name}\n\n${skill.instructions}\n`;
}

function toEntry(skill: WireSkill): JsonObject {
  const bytes = Buffer.from(toFile(skill));
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  return {
    uri: toUri(skill),
    frontmatter: toFrontmatter(skill),
    resources: [{ uri: toUri(skill), digest, size: bytes.length }],
  };
}
