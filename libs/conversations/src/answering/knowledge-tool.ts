import { isDomainError, isUnavailable } from '@app/kernel';
import { isUpstreamFailure } from '@app/models';
import type { Requester, RetrievedPassage, Retriever } from './retriever';
import type { Tool, ToolOutput } from './tools';

/** Most characters of a query. */
const LONGEST_QUERY = 1_000;

/**
 * The search in an Agent's Knowledge as a tool: finds what the Agent itself would find, and is metered as a search of
 * its user.
 */
export const knowledgeTool = (
  retriever: Retriever,
  agent: { readonly agentId: string; readonly spaceId: string },
  requester: Requester,
  approval: Tool['approval'],
): Tool => ({
  name: 'search_knowledge',
  description:
    'Search the documents of this assistant. Use it when your sources do not answer the question. Results are added to the numbered sources.',
  inputSchema: {
    type: 'object',
    properties: {
      query: {
        type: 'string',
        minLength: 1,
        maxLength: LONGEST_QUERY,
        description: 'What to search for, as a sentence.',
      },
    },
    required: ['query'],
    additionalProperties: false,
  },
  approval,
  run: async (input, { signal }) => {
    const query = queryOf(input);
    if (query === undefined)
      return failed(`The input must be {"query": "..."} with 1 to ${LONGEST_QUERY} characters, and nothing else.`);
    try {
      // What is held for the answer was not meant for this search.
      const { passages } = await retriever.retrieve(agent, query, { ...requester, signal, holds: true });
      return { output: placesOf(passages), passages };
    } catch (error) {
      signal.throwIfAborted();
      if (isDomainError(error, 'usage_limit_exceeded'))
        return failed('A spend limit is reached. Answer without this search.');
      if (isUnavailable(error) || isUpstreamFailure(error))
        return failed('The documents cannot be searched right now. Answer without this search.');
      throw error;
    }
  },
});

/** Returns the places of passages. Their texts are added to the numbered sources, so the model reads each once. */
const placesOf = (passages: readonly RetrievedPassage[]): string =>
  JSON.stringify({
    found: passages.map(({ documentName, headings }) => [documentName, ...headings].join(' > ')),
    ...(passages.length === 0 ? {} : { note: 'These passages are now in the numbered sources.' }),
  });

const queryOf = (input: unknown): string | undefined => {
  if (typeof input !== 'object' || input === null || Object.keys(input).join() !== 'query') return undefined;
  const { query } = input as { readonly query: unknown };
  return typeof query === 'string' && query.trim() !== '' && query.length <= LONGEST_QUERY ? query : undefined;
};

const failed = (error: string): ToolOutput => ({ output: JSON.stringify({ error }), isError: true });
