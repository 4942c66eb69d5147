import { readPlan } from './plan.ts';
import { installSwitch } from './switch.ts';

installSwitch(readPlan().alone);
