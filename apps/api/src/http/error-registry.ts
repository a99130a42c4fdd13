/** How an error code leaves over HTTP. */
export interface ErrorEntry {
  readonly status: number;
  /** Short, and the same for every occurrence. */
  readonly title: string;
  /** What is wrong and what to do now; says nothing of the case in hand, as `refusalSentence` does. */
  readonly detail: string;
}

const entry = (status: number, title: string, detail: string): ErrorEntry => ({ status, title, detail });

/**
 * Every code the core API answers with (wire, Errors). Codes are stable: they are added, never changed. Contexts append
 * theirs here; a test keeps this list, the OpenAPI document and the documentation equal.
 */
export const errorRegistry = {
  invalid_body: entry(400, 'Invalid body', 'The body is not what this operation takes; /docs shows what it does.'),
  invalid_parameter: entry(
    400,
    'Invalid parameter',
    'A query parameter or header is not what this operation takes; /docs shows what it does.',
  ),
  unknown_field: entry(400, 'Unknown field', 'The body has a field that this operation does not know. Leave it out.'),
  invalid_cursor: entry(
    400,
    'Invalid cursor',
    'The cursor is damaged, or belongs to another list, filter or caller. Begin again without one.',
  ),
  system_message_not_allowed: entry(
    400,
    'System message not allowed',
    'Messages of the role system are not taken here. Give the Agent a system prompt instead.',
  ),
  unsupported_parameter: entry(
    400,
    'Unsupported parameter',
    'The model or Agent does not support a parameter of the body. Leave it out.',
  ),
  unauthenticated: entry(401, 'Unauthenticated', 'The request needs a valid API key in the header x-api-key.'),
  forbidden: entry(403, 'Forbidden', 'The caller may not do this. Use a key with more rights, or ask an admin.'),
  agent_not_granted: entry(
    403,
    'Agent not granted',
    'The API key has no grant to this Agent. Add the Agent to the agentIds of the key, or use a key for all Agents.',
  ),
  agent_not_public: entry(403, 'Agent not public', 'Agent is not public'),
  not_found: entry(
    404,
    'Not found',
    'There is no such thing here, or this API key may not access it. Check the id, and what the key and its user may access.',
  ),
  method_not_allowed: entry(405, 'Method not allowed', 'This path takes the methods of the header allow.'),
  conflict: entry(409, 'Conflict', 'The state of the thing does not allow this. Read it again.'),
  name_taken: entry(409, 'Name taken', 'Another thing has this name here. Choose another.'),
  last_owner: entry(
    409,
    'Last owner',
    'You cannot remove, demote or delete the last owner of a Space. Make another member its owner first.',
  ),
  request_in_progress: entry(
    409,
    'Request in progress',
    'The first request with this Idempotency-Key still runs. Send it again in a moment to get its answer.',
  ),
  no_rebuild: entry(
    409,
    'No rebuild',
    'The view has no rebuild under way, and none to swap, roll back or retire. Begin one first.',
  ),
  rebuild_exists: entry(
    409,
    'Rebuild exists',
    'The view has a rebuild already: resume, cancel or retire that one first.',
  ),
  rebuild_not_ready: entry(
    409,
    'Rebuild not ready',
    'The state of the rebuild does not allow this. Look how it goes on, and ask again.',
  ),
  turn_in_progress: entry(
    409,
    'Turn in progress',
    'The conversation has an answer under way; ask again when it is finished.',
  ),
  model_not_available: entry(
    409,
    'Model not available',
    'The model that this needs is not configured. Add it to MODELS_FILE.',
  ),
  precondition_failed: entry(
    412,
    'Precondition failed',
    'The thing is not at the revision of If-Match. Read it again, and repeat the change on what it is now.',
  ),
  too_large: entry(
    413,
    'Too large',
    'The body is larger than this operation takes. Make it smaller, or send it in parts.',
  ),
  unsupported_media_type: entry(
    415,
    'Unsupported media type',
    'Bodies are application/json in UTF-8 without content-encoding, or what the operation names.',
  ),
  idempotency_key_reused: entry(
    422,
    'Idempotency key reused',
    'The Idempotency-Key was used for another request. Choose another key for this one.',
  ),
  no_object_generated: entry(
    422,
    'No object generated',
    'The model gave no answer that fits the schema. Ask again, with a simpler schema or another model.',
  ),
  usage_limit_exceeded: entry(
    429,
    'Usage limit exceeded',
    'A usage limit is used up. Wait until it resets, or ask an admin to raise it.',
  ),
  rate_limited: entry(
    429,
    'Rate limited',
    'The credential has used up its requests of this minute. Wait for the time in retry-after.',
  ),
  internal: entry(500, 'Internal error', 'Something failed on our side; the request id finds it in the log.'),
  log_damaged: entry(
    500,
    'Log damaged',
    'What was read from the event log is not what was written; the operator is to verify the log.',
  ),
  upstream_error: entry(502, 'Upstream error', 'The model provider failed. Ask again, or choose another model.'),
  unavailable: entry(503, 'Unavailable', 'The platform cannot serve this now; try again.'),
  view_unavailable: entry(503, 'View unavailable', 'The view has not reached the position of x-read-after; try again.'),
  upstream_timeout: entry(
    504,
    'Upstream timeout',
    'The model provider did not answer in time. Ask again, or choose another model.',
  ),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorRegistry;

/** The entry of a code; an unregistered one is a fault of ours. */
export const errorEntry = (code: string): ErrorEntry | undefined =>
  Object.hasOwn(errorRegistry, code) ? errorRegistry[code as ErrorCode] : undefined;
