export { createDocumentExtractor, type DocumentExtractorOptions } from './extractor.ts';
