/** What the parameters in paths say, by name. */
const descriptions: Readonly<Record<string, string>> = {
  agentId: 'The id of the Agent.',
  conversationId: 'The id of the conversation.',
  documentId: 'The id of the document.',
  eventId: 'The id of the event.',
  id: 'The id of the object.',
  keyId: 'The id of the API key.',
  kind: 'The kind of the object: the name of its resource in the singular.',
  limitId: 'The id of the spend limit.',
  messageId: 'The id of the message.',
  modelId: 'The id of the model; slashes may be percent-encoded or not.',
  name: 'The name of the view.',
  promptId: 'The id of the prompt.',
  restatementId: 'The id of the restatement.',
  revision: 'The revision of the Agent, a whole number.',
  spaceId: 'The id of the Space.',
  tagId: 'The id of the tag.',
  userId: 'The id of the user.',
};

/** The description of a parameter in a path. One without is a fault: add it here. */
export const parameterDescription = (name: string): string => {
  const description = descriptions[name];
  if (description === undefined) throw new Error(`the path parameter ${name} has no description`);
  return description;
};
