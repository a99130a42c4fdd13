import { running, withIngestion } from '../../../../test/fixtures/ingesting';

withIngestion();

it.each([17, 200])(
  'the embedding model is told in each call how many passages of a document it embeds: %i',
  async (count) => {
    const { worker, add, reaches, embedding } = running;
    const told: unknown[] = [];
    const { embed } = embedding;
    embedding.embed = async (request) => {
      told.push(request.inDocument);
      return embed(request);
    };
    const documentId = await add(Array.from({ length: count }, (_, at) => `# ${at}\n\nSentence ${at}.`).join('\n\n'));
    worker().offer(documentId);
    await reaches(documentId, 'Ready');
    expect(told).toEqual(Array.from({ length: Math.ceil(count / 16) }, () => count));
  },
);
