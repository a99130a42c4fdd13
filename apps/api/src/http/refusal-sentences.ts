import { type DomainError, type Facts, sentenceAbout } from '@app/kernel';
import { wrongKeySentence } from './key-sentences';

/** Longest id of the caller's own that an answer repeats. */
const LONGEST_ID = 100;

/** What a refusal says of the case in hand, from its facts: what is wrong and what to do now. Undefined where its code says all there is. */
export const refusalSentence = ({ code, facts }: Pick<DomainError, 'code' | 'facts'>): string | undefined =>
  sentences[code]?.(facts);

const sentences: Readonly<Record<string, (facts: Facts) => string | undefined>> = {
  unauthenticated: ({ reason }) => wrongKeySentence(reason),
  not_found: (facts) => {
    const thing = thingOf(facts);
    if (thing === undefined) return undefined;
    const advice = advices[String(facts['kind'])];
    return `There is no ${thing}, or this API key may not access it. ${advice ?? 'Check the id, and what the key and its user may access.'}`;
  },
  agent_not_granted: (facts) =>
    `This API key is not granted the ${thingOf(facts) ?? 'Agent'}. Add it to the agentIds of the key, or use a key for all Agents.`,
  forbidden: forbiddenSentence,
  conflict: ({ reason }) => conflicts[String(reason)],
  name_taken: ({ path }) =>
    path === undefined ? undefined : sentenceAbout(String(path), 'is taken already. Choose another.'),
  precondition_failed: ({ expected, actual }) =>
    actual === undefined
      ? undefined
      : `This is at revision ${actual} by now, and If-Match says ${expected}. Read it again, and repeat the change on what it is now.`,
  invalid_body: ({ path, reason }) =>
    path === undefined
      ? undefined
      : sentenceAbout(String(path), bodies[String(reason)] ?? 'is not a value that is taken here'),
  unsupported_parameter: ({ path }) =>
    path === undefined ? undefined : sentenceAbout(String(path), 'is not supported here. Leave it out.'),
  invalid_parameter: ({ path, reason }) =>
    path === undefined || reason !== 'required' ? undefined : sentenceAbout(String(path), 'is missing'),
  unsupported_media_type: ({ header }) => mediaTypes[String(header)],
  too_large: ({ bytes, limit }) =>
    limit === undefined
      ? undefined
      : `What this would store takes ${bytes} bytes, and at most ${limit} are stored at once. Make it smaller, or send it in parts.`,
  rate_limited: ({ retryAfterSeconds }) =>
    `This credential has used up its requests of this minute. Send the next in ${retryAfterSeconds} s.`,
  rebuild_exists: ({ version, state }) =>
    `The view has a rebuild already: version ${version}, ${state}. Resume, cancel or retire that one first.`,
  rebuild_not_ready: ({ state }) =>
    state === undefined
      ? undefined
      : `The rebuild is ${state}, which does not allow this. GET /api/v1/operations/projections/{name} shows how it goes on.`,
  model_not_available: ({ kind }) =>
    `No model of the kind ${kind} is configured, and this needs one. Add one to MODELS_FILE.`,
};

/** How things are called; an audited object's kind is named alike. */
const things: Readonly<Record<string, string>> = {
  user: 'user',
  apiKey: 'API key',
  space: 'Space',
  member: 'member with the user id',
  prompt: 'prompt',
  agent: 'Agent',
  version: 'version at revision',
  document: 'document',
  content: 'content of the document',
  tag: 'tag',
  conversation: 'conversation',
  message: 'message',
  openAnswer: 'answer under way in the conversation',
  limit: 'spend limit',
  restatement: 'restatement',
  model: 'model',
  projection: 'view',
  deadLetter: 'dead letter',
  action: 'action',
  event: 'event',
  seal: 'seal yet over the event',
  objectKind: 'kind of object',
  page: 'page of the documentation',
};

/** What to do where looking at the id once more is not it. */
const advices: Readonly<Record<string, string>> = {
  openAnswer: 'Ask for the messages of the conversation: an answer that is finished is among them.',
  seal: 'Seals follow within a second or so; ask again.',
  projection: 'GET /api/v1/operations/projections lists the views.',
  deadLetter: 'GET /api/v1/operations/dead-letters lists those that stand; retried and discarded ones are gone.',
  objectKind: 'The kinds are user, apiKey, space, agent, document, tag, conversation, message, limit and model.',
  page: 'The documentation is at /docs.',
};

/** `document 0190...`, with the id as it was given. */
const thingOf = ({ kind, id }: Facts): string | undefined => {
  if (kind === undefined || id === undefined || !Object.hasOwn(things, String(kind))) return undefined;
  return `${things[String(kind)]} ${String(id).slice(0, LONGEST_ID).toWellFormed()}`;
};

function forbiddenSentence(facts: Facts): string | undefined {
  const { permission, role, reason, path } = facts;
  if (permission !== undefined) {
    const what = path === undefined ? 'This' : `The field ${path}`;
    return `${what} needs the permission ${permission}, which this API key does not have, or the role of its user does not give. Use a key that has it, or ask an admin for one.`;
  }
  const thing = thingOf(facts) ?? 'this Space';
  if (role !== undefined)
    return `This needs the role ${role} in the ${facts['kind'] === 'agent' ? 'Space of the ' : ''}${thing}. Ask an owner of the Space for it.`;
  if (reason === 'members_only')
    return `What is in the ${thing} is for its members alone, not for admins. Ask an owner of the Space to add you.`;
  return forbids[String(reason ?? path)];
}

/** By the reason, or by the field that asks for too much. */
const forbids: Readonly<Record<string, string>> = {
  admins_only:
    'Global documents are added and changed by admins alone. Give the document the scope agent or space, or ask an admin.',
  space_creation:
    'The role of your user may not create Spaces here. Ask an admin for one, or the operator to add the role to SPACE_CREATION_ROLES.',
  sees_less: 'What you may see has changed while this was sent. Ask again.',
  key_ended: 'This API key was revoked or has ended, so it makes and changes no keys. Use another.',
  userId: 'API keys of other users are for admins. Leave userId out for your own.',
  permissions:
    'A key gets no permission that your own key, or the role of its user, does not have. Leave those out of permissions, or use a key that has them.',
  allAgents: 'Only a key for all Agents makes another. Name the Agents in agentIds.',
  expiresAt:
    'A key that ends gives no key a later end, and none prolongs a key that may do more than itself. Choose an earlier expiresAt, or use a key that does not end.',
  usageLimit:
    'A key with a limit makes no other key and loosens no limit, and none loosens that of a key that may do more than itself. Use a key without a limit.',
};

/** By the reason: what stands in the way, and what to do. */
const conflicts: Readonly<Record<string, string>> = {
  concurrent_changes: 'Others changed the same thing at the same time, and nothing of this was done. Send it again.',
  exists: 'Something else has this id already, and nothing was changed. Send the request again as a new one.',
  last_admin: 'You cannot delete the last admin, nor suspend or demote them. Make another user an admin first.',
  personal_agent: 'You cannot delete the Agent that every user has of their own: it goes with its user.',
  personal_space:
    'You cannot delete a personal Space, nor add members to it: it belongs to its one user, and goes with them. Create a team Space instead.',
  unknown_model:
    'That version names a model that is not configured any more. Restore another version, or have the operator configure the model.',
  memory_of_public_agent: 'A public Agent has no memory. Leave memory off, or stop publishing the Agent first.',
  limit_exists: 'The API key has a limit already. Change that one instead: PUT /api/v1/core/cost-control/{keyId}.',
  restatement_not_begun: 'The restatement was never begun. Begin it first.',
  version_served: 'This version of the view is the one that is served, so it stays. Roll back or swap first.',
};

const bodies: Readonly<Record<string, string>> = {
  not_among_allowed_models: 'must be one of allowedModels. Choose one of those, or add it to them.',
  unknown_model:
    'names a model that is not configured for chat. GET /api/v1/core/llm/{agentId}/models lists those that are.',
  unknown_price_version: 'names a price version that there never was',
};

const mediaTypes: Readonly<Record<string, string>> = {
  'content-encoding': 'Bodies are taken as they are, not compressed. Send it without the header content-encoding.',
  'content-type':
    'The content-type is missing or not taken here. Send application/json in UTF-8; where files are uploaded also multipart/form-data with a boundary.',
};

/** The reasons that have a sentence, for the test that every one has. */
export const saidReasons = {
  conflict: Object.keys(conflicts),
  forbidden: Object.keys(forbids),
  kinds: Object.keys(things),
  bodies: Object.keys(bodies),
};
