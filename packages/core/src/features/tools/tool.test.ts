import { expect, it } from 'vitest';
import { skillTools } from './tool.ts';

const skill = (id: string, more: object = {}) => ({
  id,
  name: id.toUpperCase(),
  description: `About ${id}.`,
  instructions: `Do ${id}.`,
  ...more,
});
const run = (skills: Parameters<typeof skillTools>[0], input: object) =>
  skillTools(skills)[0]?.run(input, {} as never);

it('offers the skills that models may load, and no tool without any', async () => {
  const hidden = skill('hidden', { disableModelInvocation: true });
  const [tool] = skillTools([skill('poems'), hidden, skill('maps', { disableModelInvocation: false })]);
  expect(tool?.offer.schema.description).toMatch(
    /\n- poems \(POEMS\): About poems\.\n- maps \(MAPS\): About maps\.$/,
  );
  expect(skillTools([hidden])).toEqual([]);
  expect(await run([skill('poems'), hidden], { skill: 'hidden' })).toMatchObject({
    isError: true,
    content: 'There is no skill hidden. Available skills: poems.',
  });
});

it('loads a skill by its id, with spaces around it, and unlocks its tools', async () => {
  const skills = [skill('poems', { tools: ['clock'] }), skill('maps')];
  expect(await run(skills, { skill: ' poems\n' })).toEqual({
    content: 'Instructions of the skill "POEMS":\n\nDo poems.',
    isError: false,
    unlocks: ['clock'],
  });
  expect(await run(skills, { skill: 'maps' })).toMatchObject({ unlocks: [] });
});

it.each([
  ['Write poems', true],
  ['a city-map', true],
  ['a City Map please', true],
  ['use a skill', true],
  ['C++ (fast)', true],
  ['a city-maps', false],
  ['poemsx', false],
  ['skilled work', false],
  ['Hello', false],
])('fits the message %j: %s', (message, expected) => {
  const [tool] = skillTools([skill('poems'), skill('city-map'), skill('cpp', { name: 'C++ (fast)' })]);
  expect(tool?.fits?.test(message)).toBe(expected);
});
