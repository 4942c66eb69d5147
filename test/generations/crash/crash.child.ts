import { live } from '../../support/lives.ts';
import { openWorkspace } from './workspace.ts';

live(openWorkspace);
