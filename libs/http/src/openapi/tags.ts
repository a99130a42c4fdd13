/** The groups of operations in the documentation. */
export const tags = {
  Agents: 'Agents, their configuration and its versions.',
  Spaces: 'Spaces and their members.',
  Prompts: 'The prompt library of a Space.',
  Documents: 'What Agents know: documents, their ingestion and their search.',
  Tags: 'Tags of documents.',
  Skills: 'Procedures that Agents load on demand, and their versions.',
  Conversations: 'Conversations with Agents and their messages.',
  Memories: 'What Agents remember of a user, and share with all their users.',
  Generation: 'Text, objects, images, speech and transcripts of Agents, outside of conversations.',
  Usage: 'Model calls and what they cost.',
  'Spend limits': 'Limits of what model calls may cost.',
  Users: 'The users of the instance.',
  Session: 'Signing in, for the pages of the product.',
  'API keys': 'Credentials of users, and what they are granted.',
  Gateway: 'Chat completions, embeddings and rerank, in the form that their clients know.',
  Audit: 'The event log, its seals and proofs.',
  Operations: 'Views, rebuilds, dead letters and what else operators look after.',
  Monitoring: 'Health and metrics.',
} as const;

export type Tag = keyof typeof tags;
