export type {
  AiSdkImageModel,
  AiSdkMediaModel,
  AiSdkSpeechModel,
  AiSdkTranscriptionModel,
  AiSdkVideoModel,
} from './media-models.ts';
export type { AiSdkCall, AiSdkEmbeddingModel, AiSdkLanguageModel, AiSdkModel } from './models.ts';
export { type AiSdkProviderOptions, createAiSdkProvider } from './provider.ts';
