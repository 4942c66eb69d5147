import { library } from '../../tsup.shared.ts';

export default library([
  'src/index.ts',
  'src/openai/index.ts',
  'src/anthropic/index.ts',
  'src/gemini/index.ts',
  'src/xai/index.ts',
  'src/elevenlabs/index.ts',
  'src/web/index.ts',
]);
