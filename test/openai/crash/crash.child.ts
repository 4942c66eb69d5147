import { live } from '../../support/server-process.ts';
import { openWorkspace } from './workspace.ts';

live(openWorkspace);
