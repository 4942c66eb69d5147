import { build } from 'tsup';
import { library } from '../../tsup.shared.ts';
import app from './tsup.app.config.ts';

// The app goes into a folder of the library's, which is cleaned first.
export default library(['src/index.ts'], {
  formats: ['esm'],
  onSuccess: () => build({ ...app, config: false }),
});
