import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
}

const { paths } = JSON.parse(readFileSync(join(__dirname, '../../../../docs/openapi.json'), 'utf8')) as {
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};
const operations = Object.values(paths).flatMap((path) =>
  Object.entries(path).map(([method, operation]) => ({ method, ...operation })),
);

/** The first words of summaries: one verb for one meaning. What is revoked, archived or cancelled can still be read. */
const VERBS: Readonly<Record<string, string>> = {
  get: 'Reads|Lists|Downloads|Streams|Sums|Explains',
  put: 'Updates|Replaces|Adds',
  patch: 'Updates|Replaces|Adds',
  delete: 'Deletes|Removes|Revokes|Archives|Discards|Cancels|Detaches|Uninstalls|Signs out',
  post:
    'Creates|Updates|Removes|Uploads|Downloads|Copies|Imports|Saves|' +
    'Sends|Regenerates|Stops|Summarises|Rates|Approves|Generates|Converts|Transcribes|' +
    'Searches|Embeds|Scores|Ingests|Compares|Builds|Rebuilds|Attaches|Simulates|' +
    'Starts|Pauses|Resumes|Cancels|Swaps|Restores|Rolls back|Retires|Reloads|' +
    'Publishes|Activates|Installs|Confirms|Discards|Retries|Suspends|Reactivates|Signs in',
};

describe('the summary of an operation', () => {
  it('begins with the verb that all operations use for what it does', () => {
    const others = operations.filter(
      ({ method, summary }) => !new RegExp(`^(?:${VERBS[method] ?? 'none'})\\b`).test(summary),
    );
    expect(others.map(({ operationId, summary }) => `${operationId}: ${summary}`)).toEqual([]);
  });

  it('of which none is listed in vain: every verb is used', () => {
    const unused = Object.entries(VERBS).flatMap(([method, verbs]) =>
      verbs
        .split('|')
        .filter((verb) => !operations.some((each) => each.method === method && each.summary.startsWith(verb)))
        .map((verb) => `${method} ${verb}`),
    );
    expect(unused).toEqual([]);
  });

  it('says in one way that a partial update keeps the rest', () => {
    const said = operations.filter(({ summary }) => /\babsent\b/i.test(summary));
    expect(said).not.toEqual([]);
    expect(said.map(({ summary }) => summary)).toEqual(
      said.map(() => expect.stringContaining('Absent fields do not change') as string),
    );
  });
});
