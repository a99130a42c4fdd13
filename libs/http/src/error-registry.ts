/** The HTTP status and message of an error code. */
export interface ErrorEntry {
  readonly status: number;
  /** Short, and the same for every occurrence. */
  readonly title: string;
  /** What is wrong and what to do now; says nothing of the case in hand, as `rejectionSentence` does. */
  readonly detail: string;
}

const entry = (status: number, title: string, detail: string): ErrorEntry => ({ status, title, detail });

/**
 * Every error code of the core API (wire, Errors). Codes are stable: add, never change. Contexts add theirs here; a
 * test keeps this list, the OpenAPI document and the documentation equal.
 */
export const errorRegistry = {
  invalid_body: entry(400, 'Invalid body', 'The body is invalid. See /docs for what this operation takes.'),
  invalid_parameter: entry(
    400,
    'Invalid parameter',
    'A query parameter or header is invalid. See /docs for what this operation takes.',
  ),
  unknown_field: entry(400, 'Unknown field', 'The body has an unknown field. Remove it.'),
  invalid_cursor: entry(
    400,
    'Invalid cursor',
    'The cursor is damaged, or belongs to another list, filter or caller. Start again without a cursor.',
  ),
  system_message_not_allowed: entry(
    400,
    'System message not allowed',
    'Messages with the role system are not accepted here. Set the system prompt of the Agent instead.',
  ),
  unsupported_parameter: entry(
    400,
    'Unsupported parameter',
    'The model or Agent does not support a parameter of the body. Remove it.',
  ),
  invalid_archive: entry(
    400,
    'Invalid archive',
    'The archive is damaged, or has entries that are not accepted. Pack the Skill again as a plain zip.',
  ),
  invalid_frontmatter: entry(
    400,
    'Invalid frontmatter',
    'The frontmatter of SKILL.md cannot be read. Begin it with --- and give name and description in plain YAML.',
  ),
  unauthenticated: entry(401, 'Unauthenticated', 'Send a valid API key in the header x-api-key.'),
  forbidden: entry(403, 'Forbidden', 'You may not do this. Use a key with more permissions, or ask an admin.'),
  agent_not_granted: entry(
    403,
    'Agent not granted',
    'The API key has no access to this Agent. Add the Agent to agentIds of the key, or use a key for all Agents.',
  ),
  agent_not_public: entry(403, 'Agent not public', 'Agent is not public'),
  not_found: entry(
    404,
    'Not found',
    'Not found, or not visible to you. Check the id, and what the key and its user may access.',
  ),
  method_not_allowed: entry(
    405,
    'Method not allowed',
    'This path does not take this method. Use one of those in the header allow.',
  ),
  request_timeout: entry(
    408,
    'Request timeout',
    'The request was too slow. Send at least 64 KiB a minute. Use a faster connection, or send it in parts.',
  ),
  conflict: entry(409, 'Conflict', 'The current state does not allow this. Read it again.'),
  name_taken: entry(409, 'Name taken', 'Name already in use. Choose another.'),
  last_owner: entry(
    409,
    'Last owner',
    'You cannot remove, demote or delete the last owner of a Space. Make another member an owner first.',
  ),
  request_in_progress: entry(
    409,
    'Request in progress',
    'The first request with this Idempotency-Key is still running. Retry in a moment to get its answer.',
  ),
  no_rebuild: entry(409, 'No rebuild', 'The view has no rebuild for this. Start one first.'),
  rebuild_exists: entry(
    409,
    'Rebuild exists',
    'The view already has a rebuild. Swap it in, resume, cancel or retire it first.',
  ),
  rebuild_not_ready: entry(
    409,
    'Rebuild not ready',
    'The rebuild is not ready for this. Check its state, and try again.',
  ),
  turn_in_progress: entry(
    409,
    'Turn in progress',
    'The conversation is still answering. Wait until the answer is finished, or stop it.',
  ),
  model_not_available: entry(
    409,
    'Model not available',
    'This needs a model that is not configured. Add it to MODELS_FILE.',
  ),
  findings_not_accepted: entry(
    409,
    'Findings not accepted',
    'Screening found something in this version. Read its findings, and send acceptFindings: true to list it anyway.',
  ),
  memory_disabled: entry(409, 'Memory disabled', 'Memory is turned off here, so nothing is remembered.'),
  memory_full: entry(409, 'Memory full', 'Memory limit reached. Delete one first.'),
  precondition_failed: entry(
    412,
    'Precondition failed',
    'Someone changed this since the revision in If-Match. Read it again, and repeat your change.',
  ),
  too_large: entry(413, 'Too large', 'The body is too large. Make it smaller, or send it in parts.'),
  unsupported_media_type: entry(
    415,
    'Unsupported media type',
    'Send application/json in UTF-8 without content-encoding, or a type that the operation names.',
  ),
  idempotency_key_reused: entry(
    422,
    'Idempotency key reused',
    'This Idempotency-Key was used for another request. Use a new key.',
  ),
  no_object_generated: entry(
    422,
    'No object generated',
    "The model's answer does not match the schema. Try again, with a simpler schema or another model.",
  ),
  memory_flagged: entry(422, 'Memory flagged', 'Memory not saved - flagged as unsafe.'),
  usage_limit_exceeded: entry(
    429,
    'Usage limit exceeded',
    'A usage limit is reached. Wait until it resets, or ask an admin to raise it.',
  ),
  rate_limited: entry(429, 'Rate limited', 'Too many requests this minute. Wait for the time in retry-after.'),
  internal: entry(500, 'Internal error', 'Something failed on our side. Give the request id to the operator.'),
  log_damaged: entry(
    500,
    'Log damaged',
    'The event log is damaged: what was read is not what was written. Ask the operator to verify the log.',
  ),
  log_newer: entry(500, 'Log newer', 'This data was written by a newer version. Ask the operator to upgrade.'),
  upstream_error: entry(502, 'Upstream error', 'The model provider failed. Try again, or choose another model.'),
  unavailable: entry(503, 'Unavailable', 'The platform cannot serve this now. Try again.'),
  view_unavailable: entry(
    503,
    'View unavailable',
    'The view has not reached the position in x-read-after yet. Try again.',
  ),
  upstream_timeout: entry(
    504,
    'Upstream timeout',
    'The model provider did not answer in time. Try again, or choose another model.',
  ),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorRegistry;

/** The entry of a code; an unregistered one is a fault of ours. */
export const errorEntry = (code: string): ErrorEntry | undefined =>
  Object.hasOwn(errorRegistry, code) ? errorRegistry[code as ErrorCode] : undefined;
