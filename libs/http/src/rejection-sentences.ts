import { type DomainError, type Facts, sentenceAbout } from '@app/kernel';
import { wrongKeySentence } from './key-sentences';

/** Repeat an id in an answer up to this length. */
const LONGEST_ID = 100;

/** The message for an error, from its facts: what is wrong and what to do. Undefined if the code's own message says it all. */
export const rejectionSentence = ({ code, facts }: Pick<DomainError, 'code' | 'facts'>): string | undefined =>
  sentences[code]?.(facts);

const sentences: Readonly<Record<string, (facts: Facts) => string | undefined>> = {
  unauthenticated: ({ reason }) => wrongKeySentence(reason),
  not_found: (facts) => {
    const found = aggregateOf(facts);
    if (found === undefined) return undefined;
    const subject = `${found[0]?.toUpperCase()}${found.slice(1)}`;
    if (facts['reason'] === 'deleted')
      return `${subject} was deleted (${String(facts['type'])}, ${String(facts['at'])}). Ask for it as it was with at=${String(facts['before'])}, or read its history.`;
    const advice = advices[String(facts['kind'])]?.(facts) ?? 'Check the id, and what the key and its user may access.';
    return `${subject} not found, or not visible to you. ${advice}`;
  },
  agent_not_granted: (facts) =>
    `This API key has no access to ${aggregateOf(facts) ?? 'the Agent'}. Add it to agentIds of the key, or use a key for all Agents.`,
  forbidden: forbiddenSentence,
  conflict: ({ reason }) => conflicts[String(reason)],
  name_taken: ({ path, reason }) =>
    takenNames[String(reason)] ??
    (path === undefined ? undefined : sentenceAbout(String(path), 'is already in use. Choose another.')),
  memory_disabled: ({ kind }) =>
    kind === 'shared'
      ? 'This Agent shares no memories. Turn on `sharedMemoryEnabled` of the Agent, or save it for yourself.'
      : 'This Agent remembers nothing. Turn on `memoryEnabled` of the Agent; a public Agent has no memory.',
  findings_not_accepted: ({ rules }) =>
    `Screening found this in the version: ${rules}. Read its findings, and send acceptFindings: true to list it anyway.`,
  memory_full: ({ kind, limit }) =>
    kind === 'proposed'
      ? `You have ${limit} proposed memories with this Agent already. Confirm or discard some first.`
      : `The Agent keeps at most ${limit} ${kind} memories${kind === 'shared' ? '' : ' of each user'}. Delete one first, or replace one.`,
  precondition_failed: ({ expected, actual, reason }) => {
    if (reason === 'no_etag') return 'This has no etag. Remove If-Match.';
    if (actual === -1) return 'This is new. Remove If-Match.';
    return actual === undefined
      ? undefined
      : `This is now at revision ${actual}, but If-Match says ${expected}. Read it again, and repeat your change.`;
  },
  invalid_body: ({ path, reason }) =>
    path === undefined
      ? undefined
      : sentenceAbout(String(path), bodies[String(reason)] ?? 'has a value that is not allowed here'),
  unsupported_parameter: ({ path, reason }) =>
    path === undefined
      ? undefined
      : sentenceAbout(String(path), unsupported[String(reason)] ?? 'is not supported here. Remove it.'),
  invalid_parameter: ({ path, reason }) => {
    const said = parameters[String(reason)];
    return path === undefined || said === undefined ? undefined : sentenceAbout(String(path), said);
  },
  unsupported_media_type: ({ header }) => mediaTypes[String(header)],
  too_large: ({ bytes, limit, reason }) =>
    reason === 'incognito'
      ? 'Incognito conversations are over their memory limit. Delete one, or send a shorter message.'
      : limit === undefined
        ? undefined
        : reason === 'attachment'
          ? `An attached file may have at most ${limit} bytes. Make it smaller.`
          : reason === 'skill_files'
            ? `A Skill may have at most ${limit} files.`
            : reason === 'skill_bytes'
              ? `The files of a Skill may have at most ${limit} bytes together, and these have ${bytes}. Leave some out.`
              : reason === 'skill_file'
                ? `A file of a Skill may have at most ${limit} bytes. Make it smaller, or leave it out.`
                : `This takes ${bytes} bytes to store; the limit is ${limit}. Make it smaller, or send it in parts.`,
  rate_limited: ({ retryAfterSeconds }) => `Too many requests this minute. Retry in ${retryAfterSeconds} s.`,
  rebuild_exists: ({ version, state }) =>
    `The view already has a rebuild: version ${version}, ${state}. Swap it in, resume, cancel or retire it first.`,
  rebuild_not_ready: ({ state }) =>
    state === undefined
      ? undefined
      : `The rebuild is ${state}, which does not allow this. Check its state with GET /api/v1/operations/projections/{name}.`,
  unavailable: ({ reason }) => unavailables[String(reason)],
  model_not_available: ({ kind, reason }) =>
    reason === 'not_allowed'
      ? 'This Agent cannot use this model. List those that it can use with GET /api/v1/core/llm/{agentId}/models.'
      : `This needs a model of the kind ${kind}, and none is configured. Add one to MODELS_FILE.`,
};

const unsupported: Readonly<Record<string, string | undefined>> = {
  switched_off: 'is turned off for this Agent. Remove it, or turn it on in `sampling` of the Agent.',
  knowledge_off: 'asks for Knowledge, which is turned off for this Agent. Remove it, or turn on `knowledgeEnabled`.',
  incognito_file: 'is a file, which would be stored. Remove it, or ask in a conversation that is not incognito.',
  sees_nothing: 'is a file, and the model cannot see files. Remove it, or choose a model with the tag vision.',
};

const unavailables: Readonly<Record<string, string | undefined>> = {
  no_process_url:
    'The conversation is in the memory of another process, and this one does not know its address. Try again, or ask the operator to set PROCESS_URL.',
  incognito_full: 'No memory left for incognito conversations. Try again later.',
};

/** What a caller can do while something that the platform depends on is away. Undefined: no more than to try again. */
export const sentenceWithout = (dependency: string): string | undefined =>
  dependency === 'embedding'
    ? 'The embedding model does not answer, so semantic search is unavailable. Search with the mode hybrid or text, or try again later.'
    : undefined;

const parameters: Readonly<Record<string, string | undefined>> = {
  required: 'is missing',
  repeated: 'must be given once',
};

/** Names of kinds that cannot be derived, also for kinds of audited objects. */
const kindNames: Readonly<Record<string, string | undefined>> = {
  apiKey: 'API key',
  space: 'Space',
  skill: 'Skill',
  skillVersion: 'Skill version',
  agent: 'Agent',
  version: 'version at revision',
  content: 'content of document',
  sessionOf: 'session of API key',
  limit: 'spend limit',
  projection: 'view',
  seal: 'seal over event',
  objectKind: 'kind of object',
  page: 'documentation page',
  // The registry of a Space: name what is missing in it.
  tags: undefined,
};

/** `deadLetter` is a dead letter. */
const nameOfKind = (kind: string): string | undefined => {
  if (Object.hasOwn(kindNames, kind)) return kindNames[kind];
  return /^[a-z][A-Za-z]*$/.test(kind) ? kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`) : undefined;
};

/** What to do, where checking the id does not help. */
const advices: Readonly<Record<string, (facts: Facts) => string>> = {
  sessionOf: () =>
    'The request came with the key itself. Sign in with POST /api/v1/session, and send the cookie instead.',
  seal: () => 'An event is sealed within about a second. Try again.',
  projection: () => 'List the views with GET /api/v1/operations/projections.',
  deadLetter: () => 'List the open ones with GET /api/v1/operations/dead-letters. Retried and discarded ones are gone.',
  objectKind: ({ kinds }) => `Use one of ${String(kinds)}.`,
  page: () => 'The documentation starts at /docs.',
};

/** `document 0190...`, with the id as it was given. */
const aggregateOf = ({ kind, id }: Facts): string | undefined => {
  const name = kind === undefined ? undefined : nameOfKind(String(kind));
  return id === undefined || name === undefined
    ? undefined
    : `${name} ${String(id).slice(0, LONGEST_ID).toWellFormed()}`;
};

function forbiddenSentence(facts: Facts): string | undefined {
  const { permission, role, reason, path } = facts;
  if (permission !== undefined) {
    const what = path === undefined ? 'This' : `The field ${path}`;
    return `${what} needs the permission ${permission}. This API key lacks it, or the role of its user does not allow it. Use a key that has it, or ask an admin for one.`;
  }
  const subject = aggregateOf(facts) ?? 'this Space';
  if (role !== undefined)
    return `This needs the role ${role} in ${facts['kind'] === 'agent' ? 'the Space of ' : ''}${subject}. Ask an owner of the Space for it.`;
  if (reason === 'members_only')
    return `Only members see what is in ${subject}; admins do not. Ask an owner of the Space to add you.`;
  return forbids[String(reason ?? path)];
}

/** By reason, or by the field that asks for too much. */
const forbids: Readonly<Record<string, string>> = {
  admins_only: 'Only admins may add and change global documents. Use the scope agent or space, or ask an admin.',
  space_creation:
    'Your role cannot create Spaces. Ask an admin to create one, or the operator to add your role to SPACE_CREATION_ROLES.',
  marketplace:
    'Your role cannot change the marketplace. Ask an admin, or the operator to add your role to MARKETPLACE_ROLES.',
  agent_lost:
    'You or your API key can no longer use this Agent. Use another key, or ask an owner of the Space of the Agent.',
  sees_less: 'Your access changed while this was sent. Try again.',
  not_all_agents: 'These are the memories of all Agents. Use a key for all Agents, or ask for those of one Agent.',
  foreign_origin:
    'This came from a page of another origin, and sessions are only for pages of this one. Send an API key in the header x-api-key instead.',
  key_ended: 'This API key was revoked or has expired, so it cannot create or change keys. Use another.',
  key_exceeds:
    'That API key has more rights than yours, or is for other Agents, so yours can narrow it but not widen it. Use a key with the same rights.',
  userId: 'Only admins may create or list API keys of other users. Leave userId out for your own.',
  permissions:
    'A key cannot have permissions that your own key, or the role of its user, lacks. Remove them from permissions, or use a key that has them.',
  allAgents: 'Only a key for all Agents can create another one. List the Agents in agentIds.',
  expiresAt:
    'A key that expires cannot give a key a later end, and no key can extend one with more rights than itself. Choose an earlier expiresAt, or use a key that does not expire.',
  usageLimit:
    'A key with a limit cannot create keys or raise limits, and no key can raise the limit of one with more rights than itself. Use a key without a limit.',
};

/** By reason: what prevents it, and what to do. */
const conflicts: Readonly<Record<string, string>> = {
  concurrent_changes: 'Others changed this at the same time, and nothing was done. Send the request again.',
  document_not_ready: 'The document is not Ready, so its chunks are about to change. Wait until it is, then edit them.',
  too_many_tags: 'The document already has 100 tags, the maximum. Detach one first.',
  archived: 'This Skill of the marketplace is archived. Restore it first, with POST .../restore.',
  not_published: 'No version of the Skill is published. Publish it first, then list it.',
  exists: 'This id is already in use, and nothing was changed. Send the request again as a new one.',
  incognito:
    'An incognito conversation is not stored, so it does not support this. You can ask, regenerate, read, stop or delete it.',
  other_kind: 'The conversation is of another kind. Leave kind out to go on with it, or begin a new one.',
  last_admin: 'You cannot delete, suspend or demote the last admin. Make another user an admin first.',
  personal_agent: 'You cannot delete a personal Agent. It is deleted with its user.',
  personal_space:
    'You cannot delete a personal Space or add members to it. It is deleted with its user. Create a team Space instead.',
  unknown_model:
    'That version uses a model that is no longer configured. Restore another version, or ask the operator to configure the model.',
  memory_chosen:
    'This memory is no longer proposed: it was saved, was discarded, or has lapsed. Read it, or propose it again.',
  memory_edited: 'The memory was changed meanwhile. Read it again, then edit it.',
  memory_proposed: 'This memory is only proposed. Confirm it first, then edit it.',
  memory_replaced: 'Another memory is replacing this one. List the memories, and replace the new one.',
  equal_memory: 'Another memory says the same. Edit that one, or delete one of the two.',
  personal_memories_only:
    'This Agent is personal, or in a private Space, so all its memories are personal. Leave kind out, or save it for yourself.',
  memory_of_public_agent: 'A public Agent cannot have memory. Turn memory off, or turn public off first.',
  limit_exists: 'The API key already has a limit. Change it with PUT /api/v1/core/cost-control/{keyId}.',
  limit_of_other_currency: 'The limit is in another currency than the platform’s. Set a new one, and remove this one.',
  restatement_not_begun: 'The restatement was never started. Start it first.',
  build_running:
    'A build of the summary index is running. Wait for it, or cancel it with DELETE /api/v1/core/knowledge/{agentId}/summary-index.',
  reindex_exists: 'A re-index has not ended. Swap or cancel it first.',
  no_reindex: 'There is no re-index here. Start one first.',
  reindex_not_ready: 'The re-index is in another state. Read its state first.',
  nothing_to_summarise: 'There is nothing to summarise. Go on with the conversation first.',
  call_decided: 'The call no longer waits for approval. Read the message to see what became of it.',
  skills_full:
    'This Space or Agent has reached its limit of Skills. Delete one first, or ask the operator to raise SKILLS_PER_PLACE.',
  only_draft: 'Nothing of the Skill is published yet. Delete the Skill instead.',
  no_draft: 'The Skill has no draft to publish. Change it first.',
  version_served: 'This version of the view is being served. Roll back or swap first.',
};

/** By reason: what has the name of a Skill, where it is not the name alone, or cannot be chosen. */
const takenNames: Readonly<Record<string, string>> = {
  slug_taken:
    'Another Skill already has the slug that this name gives. Renaming a Skill keeps its slug. Choose another name.',
  installed:
    'This Skill of the marketplace is already installed here: for the Space, or for an Agent of it. Uninstall it there first.',
  entry_name_taken: 'Another Skill here has the name of this one. Rename, delete or uninstall that one first.',
  entry_slug_taken:
    'Another Skill here has the slug of this one. Renaming keeps the slug, so delete or uninstall that Skill first.',
};

const bodies: Readonly<Record<string, string>> = {
  not_among_allowed_models: 'must be one of allowedModels. Choose one of them, or add it.',
  unknown_model:
    'names a model that is not configured for chat. List those that are with GET /api/v1/core/llm/{agentId}/models.',
  secret_of_another_address: 'must be sent again, because the base URL of the tool changed. null removes the secret.',
  schema_too_slow: 'takes too long to check. Make it simpler',
  unknown_version: 'must be a published version of this Skill. List them with GET .../versions.',
  memory_length: 'must have 1 to 300 visible characters',
  unknown_price_version: 'names a price version that does not exist',
};

const mediaTypes: Readonly<Record<string, string>> = {
  'content-encoding': 'Compressed bodies are not accepted. Send it without the header content-encoding.',
  'content-type':
    'The content-type is missing or not accepted here. Send application/json in UTF-8, or multipart/form-data with a boundary to upload files.',
  attachment:
    'The content of the file is not UTF-8 text, Markdown, PDF, PNG, JPEG, WebP or GIF. Convert it to one of these.',
};

/** Reasons with a sentence. A test checks that none is missing. */
export const saidReasons = {
  conflict: Object.keys(conflicts),
  forbidden: Object.keys(forbids),
  bodies: Object.keys(bodies),
};
