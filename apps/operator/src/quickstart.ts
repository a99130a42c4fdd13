import { extname, resolve } from 'node:path';
import { Command, CommanderError, Option } from 'commander';
import { EXIT, type ExitCode, Failure } from './exit-codes';
import { type Output, outputTo } from './output';
import type { PlatformClient } from './platform-client';
import { answerLines, ask, differing, OWN_QUESTIONS, questionsAbout } from './quickstart/conversation';
import { documentLines, filesIn, ingested, ownFiles, upload } from './quickstart/documents';
import { showPast } from './quickstart/past';
import { type Product, runningProduct, startedProduct } from './quickstart/product';
import { showSeals } from './quickstart/seals';
import { Steps } from './quickstart/steps';
import { rebuildEveryView } from './quickstart/rebuild';

const ROOT = resolve(__dirname, extname(__filename) === '.ts' ? '../../..' : '../../../..');

interface Options {
  readonly url?: string;
  readonly apiKey?: string;
}

/** The main job from end to end, over the public HTTP API alone. */
const quickstart = async (folder: string | undefined, options: Options, output: Output): Promise<void> => {
  const steps = new Steps((text) => process.stdout.write(text));
  const files = folder === undefined ? await ownFiles(ROOT) : await filesIn(folder);
  const questions = folder === undefined ? OWN_QUESTIONS : questionsAbout(files);
  if (questions.length === 0) throw new Failure(`${folder} has no sentence to ask a question about.`);
  const product = await steps.step('The product', async () => {
    const found = await productFor(options);
    steps.say(found.about);
    return found;
  });
  const interrupted = (): void => void product.stop().then(() => process.exit(130));
  process.once('SIGINT', interrupted);
  try {
    await mainJob(product.api, files, questions, steps, output);
  } finally {
    process.off('SIGINT', interrupted);
    await product.stop();
  }
  steps.end();
};

const mainJob = async (
  api: PlatformClient,
  files: Awaited<ReturnType<typeof ownFiles>>,
  questions: readonly string[],
  steps: Steps,
  output: Output,
): Promise<void> => {
  const agentId = await steps.step('Create a Space and an Agent', () => createAgent(api, steps));
  const askAll = () =>
    ask(api, agentId, questions, (answer) => {
      for (const line of answerLines(answer)) steps.say(line);
    });

  await steps.step(`Upload ${files.length} documents and wait until each is Ready`, async () => {
    await upload(api, agentId, files);
    const documents = await ingested(api, agentId, files.length, output);
    for (const line of documentLines(documents)) steps.say(line);
  });
  const answers = await steps.step('Ask questions in a conversation', askAll);
  if (answers.every(({ sources }) => sources.length === 0)) throw new Failure('No answer cites a source.');
  await steps.step('Change the Agent; see its history and its state at an earlier time', () =>
    showPast(api, agentId, steps),
  );
  await steps.step('Verify the seals over the log', () => showSeals(api, steps, output));
  await steps.step('Rebuild every view from the log, live; verify and swap each', () =>
    rebuildEveryView(api, steps, output),
  );
  await steps.step('Ask again, from the rebuilt views', async () => {
    const different = differing(answers, await askAll());
    if (different.length > 0) throw new Failure(`The answers differ after the rebuild: ${different.join(' ')}`);
    steps.say(`all ${answers.length} answers are the same, word for word and source for source`);
  });
};

const createAgent = async (api: PlatformClient, steps: Steps): Promise<string> => {
  const name = `Quickstart ${new Date().toISOString()}`;
  const space: { id: string; slug: string } = await api.json('/api/v1/core/spaces', {
    method: 'POST',
    body: { name, description: 'Made by the quickstart.' },
  });
  steps.say(`Space "${name}" (${space.id})`);
  const agent: { id: string; name: string; model: string } = await api.json('/api/v1/core/agents', {
    method: 'POST',
    body: {
      spaceId: space.id,
      name: 'Guide',
      description: 'Answers from the documents of the quickstart.',
      model: 'local-chat',
      systemPrompt: 'Answer from the documents and quote them.',
      knowledgeEnabled: true,
    },
  });
  steps.say(`Agent "${agent.name}" (${agent.id}), model ${agent.model}`);
  return agent.id;
};

/** Uses the named server, or starts one if none is named. */
const productFor = async (given: Options): Promise<Product> => {
  // Empty variables count as unset.
  const [url, apiKey] = [given.url || undefined, given.apiKey || undefined];
  if (url !== undefined && apiKey === undefined)
    throw new Failure(`To use the server at ${url}, set PLATFORM_API_KEY.`, EXIT.wrongUsage);
  return apiKey === undefined ? startedProduct(process.env) : runningProduct(url ?? 'http://127.0.0.1:3000', apiKey);
};

const program = new Command('quickstart')
  .description('Show everything at work, in a temporary folder, or on a running product if you set its API key.')
  .argument('[folder]', "folder of Markdown or text files (default: this project's README.md and docs)")
  .addOption(new Option('--url <url>', 'address of a running server').env('PLATFORM_URL'))
  .addOption(new Option('--api-key <key>', 'API key of a running server').env('PLATFORM_API_KEY'))
  .exitOverride()
  .action((folder: string | undefined, options: Options) => quickstart(folder, options, outputTo(process, false)));

const exitCodeOf = (error: unknown): ExitCode => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUsage;
  process.stderr.write(
    `\n${error instanceof Failure ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
  );
  return error instanceof Failure ? error.exitCode : EXIT.failed;
};

program.parseAsync().catch((error: unknown) => {
  process.exitCode = exitCodeOf(error);
});
