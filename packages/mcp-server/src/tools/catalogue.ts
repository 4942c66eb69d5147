import { askAgentTool, getAgentAnswerTool } from './ask-agent.ts';
import { generateImageTool, getImageTool } from './images.ts';
import { listSkillsTool, readSkillTool } from './skills.ts';
import { type McpTool, type OperationTool, operationTool, type Routes } from './tool.ts';
import { generateVideoTool, getVideoTool } from './videos.ts';

/** Tools that are one operation each, by its id. */
const SIMPLE: Readonly<Record<string, OperationTool>> = {
  listAgents: {
    name: 'list_agents',
    title: 'List agents',
    description: 'Lists the agents that `ask_agent` can use: own, public and shared ones.',
  },
  listSessions: {
    name: 'list_sessions',
    title: 'List sessions',
    description: 'Lists the conversations of the user, newest first.',
  },
  listSessionMessages: {
    name: 'read_session',
    title: 'Read a session',
    description: 'Reads the messages of a conversation, page by page.',
    idName: 'session_id',
  },
  listDataLakes: {
    name: 'list_data_lakes',
    title: 'List data lakes',
    description: 'Lists the sets of files that `search_data_lake` can search.',
  },
  searchDataLake: {
    name: 'search_data_lake',
    title: 'Search a data lake',
    description: 'Finds passages of the files of a data lake by meaning and by words.',
    idName: 'lake_id',
  },
  listFiles: {
    name: 'list_files',
    title: 'List files',
    description: 'Lists the files of the user.',
  },
  readFileText: {
    name: 'read_file',
    title: 'Read a file',
    description: 'Reads the text of a file, also of a document such as a PDF.',
    idName: 'file_id',
  },
  listVideoModels: {
    name: 'list_video_models',
    title: 'List video models',
    description: 'Lists the models of `generate_video`, with the values that each accepts.',
  },
  listModels: {
    name: 'list_models',
    title: 'List models',
    description: 'Lists the models that the user can use.',
  },
};

/** The tools whose operations the API has. */
export function createTools(routes: Routes): readonly McpTool[] {
  const simple = Object.entries(SIMPLE).flatMap(([id, shown]) => {
    const operation = routes.get(id)?.operation;
    return operation === undefined ? [] : [operationTool(operation, shown)];
  });
  return [
    askAgentTool(routes),
    getAgentAnswerTool,
    ...simple,
    listSkillsTool,
    readSkillTool,
    generateImageTool(routes),
    getImageTool,
    generateVideoTool(routes),
    getVideoTool,
  ].filter(({ operations }) => operations.every((id) => routes.has(id)));
}
