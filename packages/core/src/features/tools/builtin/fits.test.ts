import { createFakeClock, createFakeIds } from '@questline/testing';
import { expect, it } from 'vitest';
import { createToolbox } from '../../../tools/toolbox.ts';
import { drawingTools } from './drawing.ts';
import { everydayTools } from './everyday.ts';

const createTools = () =>
  createToolbox([...everydayTools({ clock: createFakeClock(), ids: createFakeIds() }), ...drawingTools()]);

it.each([
  ['What day is it?', ['current_datetime']],
  ['Roll two dice', ['dice_roll']],
  ['What is 3 * 4?', ['calculator']],
  ['Draw a flow chart of it', ['create_diagram', 'create_chart']],
  ['Make a mind map', ['create_diagram']],
  ['Plot the numbers', ['create_chart']],
  ['Hello there', []],
])('the message %j is offered the tools %j', async (message, ids) => {
  const offers = await createTools().select(message, {} as never);
  expect(offers.map(({ id }) => id)).toEqual(ids);
});
