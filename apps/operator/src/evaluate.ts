import { Command, CommanderError } from 'commander';
import { readCollection } from './evaluate/collection';
import { evaluate, type Evaluation } from './evaluate/evaluation';
import { EXIT, type ExitCode, Failure } from './exit-codes';

const DIGITS = 4;
const COLUMNS = ['nDCG@10', 'recall@100', 'MRR'] as const;

const program = new Command('evaluate')
  .description(
    'Measure the search on your own documents, queries and judgements. Runs ingestion and retrieval in a temporary folder.',
  )
  .argument(
    '<corpus>',
    'folder with corpus.jsonl, queries.jsonl and qrels/test.tsv (BEIR), or documents.xml, topics.xml and qrels.txt (TREC)',
  )
  .option('--json', 'print the figures as JSON')
  .exitOverride()
  .action(async (corpus: string, { json = false }: { readonly json?: boolean }) => {
    const isTold = process.stderr.isTTY && !json;
    const result = await evaluate(readCollection(corpus), process.env, (sentence) => {
      if (isTold) process.stderr.write(`${sentence}\n`);
    });
    process.stdout.write(json ? `${JSON.stringify(result)}\n` : table(result));
  });

const table = ({ documents, passages, queries, embeddingModel, rerankerModel, results }: Evaluation): string => {
  const rows = Object.entries(results).map(([way, metrics]) =>
    [way.padEnd(16), ...COLUMNS.map((column) => metrics[column].toFixed(DIGITS).padStart(11))].join(''),
  );
  const heading = [''.padEnd(16), ...COLUMNS.map((column) => column.padStart(11))].join('');
  const about = `${documents} documents (${passages} passages), ${queries} judged queries; embedding model ${embeddingModel}, reranker ${rerankerModel}`;
  return `${[about, '', heading, ...rows].join('\n')}\n`;
};

const exitCodeOf = (error: unknown): ExitCode => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUsage;
  process.stderr.write(
    `${error instanceof Failure ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
  );
  return error instanceof Failure ? error.exitCode : EXIT.failed;
};

program.parseAsync().catch((error: unknown) => {
  process.exitCode = exitCodeOf(error);
});
