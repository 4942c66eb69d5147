import { GROUPS } from './groups.ts';
import { describeFields } from './walk.ts';

describeFields(GROUPS.publicWrites);
