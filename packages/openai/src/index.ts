export { createOpenAIApi, type OpenAIApiOptions, type OpenAIApiServices } from './api.ts';
