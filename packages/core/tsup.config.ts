import { library } from '../../tsup.shared.ts';

export default library(['src/index.ts', 'src/bridge.ts', 'src/directory/index.ts', 'src/memory/index.ts']);
