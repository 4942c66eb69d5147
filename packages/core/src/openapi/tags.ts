/** The groups of the published description, in its order. */
export const TAGS: readonly { readonly name: string; readonly description: string }[] = [
  { name: 'AI', description: 'Chat, completions, embeddings, agent runs, tools, quest polling.' },
  { name: 'Images', description: 'Generate and edit images.' },
  { name: 'Audio', description: 'Speech, sound effects and music, at once.' },
  { name: 'Videos', description: 'Video generation as jobs.' },
  { name: 'Music', description: 'Music generation as jobs.' },
  { name: 'Transcriptions', description: 'Speech to text.' },
  { name: 'Sessions', description: 'Conversations.' },
  { name: 'Artifacts', description: 'Versioned documents that came out of a conversation.' },
  { name: 'Files', description: 'Uploads, checked before they can be used.' },
  { name: 'Projects', description: 'Sessions and files that belong together.' },
  { name: 'Agents', description: 'Reusable instructions with a model and tools.' },
  { name: 'Data Lakes', description: 'Collections of files that can be searched by meaning.' },
  { name: 'Account', description: 'Who is calling, what is left and what was spent.' },
];
